// A name is known only behind its declaration.
active proctype p()
{
	late = 1;
	byte late;
	{ byte inner; inner = 1 }
	inner = 2
}

// problem: 4:2 error: `late` is not declared
// problem: 7:2 error: `inner` is not declared
