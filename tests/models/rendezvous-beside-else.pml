/* expect: stored 5, transitions 5, errors 0
 *
 * A rendezvous that somebody accepts keeps `else` from being taken; one that nobody accepts does not.
 */
chan rv = [0] of { byte };

active proctype receiver()
{
	rv?0
}

init {
	if
	:: rv!0
	:: else
	fi;
	if
	:: rv!0
	:: else
	fi
}
