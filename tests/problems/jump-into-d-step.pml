byte x;

active proctype p()
{
	goto inside;
	d_step { x = 2; inside: x = 3 }
}

active proctype q() { x++ }

// problem: 5:2 error: a jump into a `d_step`
