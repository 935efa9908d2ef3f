byte scalar, i;

active proctype p()
{
	for (i in scalar) { scalar++ }
}

// problem: 5:12 error: expected the name of an array or an initialised channel
