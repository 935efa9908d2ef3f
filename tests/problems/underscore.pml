byte x;

active proctype p()
{
	_ = x;
	x = _;
	_pid = 1;
	_nr_pr++;
	_last = 2
}

// problem: 6:6 error: `_` can only be written to
// problem: 7:2 error: `_pid` cannot be assigned to
// problem: 8:2 error: `_nr_pr` cannot be assigned to
// problem: 9:2 error: `_last` cannot be assigned to
