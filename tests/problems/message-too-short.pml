// SPIN lets such a statement be as long as nobody executes it.
chan two = [1] of { byte, byte };
byte x;

active proctype p()
{
	if
	:: x == 1 -> two!1
	:: else
	fi
}

// problem: 8:15 warning: messages of `two` have 2 fields, not 1; executing it is an error
