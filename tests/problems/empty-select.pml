active proctype p()
{
	byte x;
	select (x : 9 .. 3)
}

// problem: 4:2 error: the range of this `select` is empty
// problem: 3:7 warning: unused variable `x`
