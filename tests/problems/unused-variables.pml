byte used, unused;
hidden byte ignored;

proctype p(byte param)
{
	byte local_one, written;
	used++;
	written = 1
}

init { run p(1) }

// problem: 1:12 warning: unused global variable `unused`
// problem: 2:13 warning: unused global variable `ignored`
// problem: 6:7 warning: unused variable `local_one`
