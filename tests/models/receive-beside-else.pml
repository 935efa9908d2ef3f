/* expect: stored 6, transitions 6, errors 0
 *
 * A rendezvous receive does not keep `else` from being taken, even if a sender waits.
 */
chan rv = [0] of { byte };
byte x;

active proctype sender()
{
end:	rv!1
}

active proctype receiver()
{
	if
	:: rv?x
	:: else
	fi
}
