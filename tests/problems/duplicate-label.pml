byte x;

active proctype p()
{
again:	x++;
	if
	:: x < 3 -> goto again
	:: else
	fi;
again:	x = 0
}

// problem: 10:1 error: label `again` is defined twice
