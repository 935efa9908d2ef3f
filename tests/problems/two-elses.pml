byte x;

active proctype p()
{
	if
	:: x == 1
	:: else -> x = 1
	:: else -> x = 2
	fi
}

// problem: 8:5 error: a second `else` in the same choice
