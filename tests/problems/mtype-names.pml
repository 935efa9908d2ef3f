// Values of an mtype are constants, and mtypes are declared outside processes.
active proctype p()
{
	mtype = { one, two };
	hidden byte x;
	skip
}

// problem: 4:2 error: the constants of an `mtype` can be declared only outside processes
