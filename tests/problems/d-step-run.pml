proctype child() { skip }

active proctype p()
{
	pid c;
	d_step { c = 1; c = run child() }
}

// problem: 6:18 error: `run` inside a `d_step`; use `atomic` instead
