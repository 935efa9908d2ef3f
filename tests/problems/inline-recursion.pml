byte x;

inline loop(n)
{
	x = n;
	loop(n + 1)
}

active proctype p() { loop(1) }

// problem: 6:2 error: the inline `loop` calls itself
