byte x;

active proctype p()
{
	if
	:: x == 0 -> break
	:: else
	fi
}

// problem: 6:15 error: `break` outside of a loop; `break` leaves the innermost `do` or `for`; use `goto` elsewhere
