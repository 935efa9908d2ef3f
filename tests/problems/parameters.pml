proctype worker(byte a; byte list[3])
{
	a = 1
}

init { run worker(1) }

// problem: 1:30 error: a parameter can be neither an array nor have an initial value
