byte x;

inline set(target)
{
	target = 300
}

active proctype p() { set(x) }

// problem: 5:11 warning: 300 does not fit into 8 bits: 44 is stored
