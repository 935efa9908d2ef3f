byte x;

active proctype p()
{
	do
	:: x < 3 ->
		x++
	:: else -> break

active proctype q()
{
	x = 1
}

// problem: 10:1 error: expected `od`, found `active`
// problem: 10:1 error: expected `}`, found `active`
