byte x;

active proctype p()
{
	x = 1;
	d_step { x = 1; if :: x == 1 -> goto out :: else fi };
	do
	:: d_step { x = 4; break }
	od;
out:	skip
}

active proctype q() { x++ }

// problem: 6:34 error: a jump out of a `d_step`; a `d_step` is left only at its end; use `atomic` to leave earlier
// problem: 8:21 error: a jump out of a `d_step`; a `d_step` is left only at its end; use `atomic` to leave earlier
