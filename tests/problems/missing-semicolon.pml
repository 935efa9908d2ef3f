byte x

active proctype p()
{
	x = 1 x = 2;
	x = 3
	x = 4
}

// problem: 5:8 error: expected `;` after this statement, found `x`
