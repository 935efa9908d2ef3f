// Columns count characters, not bytes: äöü → ☃.
byte x;

active proctype p()
{
	/* äöü → ☃ */ y = 1;	z = 2
}

// problem: 6:16 error: `y` is not declared
// problem: 6:23 error: `z` is not declared
// problem: 2:6 warning: unused global variable `x`
