byte x;

active proctype p()
{
	atomic { };
	if
	::
	fi;
	do
	od
}

active proctype q() { }

// problem: 5:9 error: expected at least one statement after this; `skip` does nothing
// problem: 7:2 error: expected at least one statement after this; `skip` does nothing
// problem: 10:2 error: expected `::` after `do`, found `od`; write `do :: condition -> … :: else -> … od`
// problem: 13:21 error: expected at least one statement after this; `skip` does nothing
