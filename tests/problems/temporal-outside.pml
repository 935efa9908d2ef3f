byte x;

active proctype p()
{
	x = 1;
	([] (x == 1))
}

// problem: 6:3 error: expected an expression, found `[`
