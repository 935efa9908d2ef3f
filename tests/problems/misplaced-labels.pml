byte x;

active proctype p()
{
	if
	:: first: x == 0 -> x = 1
	:: else
	fi;
	atomic { second: x = 2 };
	d_step { third: x = 3 };
	{ fourth: x = 4 };
	{ fifth: x = 5 } unless { sixth: x == 6 };
	goto first; goto second; goto fourth; goto fifth; goto sixth
}

// problem: 6:5 warning: label `first` on the first statement of a branch is no location of its own; label the `if` or `do` instead
// problem: 9:11 error: label `second` is not allowed at the beginning of this sequence; write `second: atomic { … }`
// problem: 10:11 error: label `third` is not allowed at the beginning of this sequence; write `third: d_step { … }`
// problem: 11:4 error: label `fourth` is not allowed at the beginning of this sequence; write `fourth: { … }`
// problem: 12:4 error: label `fifth` is not allowed at the beginning of this sequence; write `fifth: { … }`
// problem: 12:28 error: label `sixth` is not allowed at the beginning of this sequence; write `sixth: { … }`
