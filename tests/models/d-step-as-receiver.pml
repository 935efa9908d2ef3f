/* expect: stored 3, transitions 3, errors 1
 *
 * A `d_step` that begins with a receive can be the other side of a rendezvous.
 */
chan rv = [0] of { byte };
byte got;

active proctype giver()
{
	rv!3;
	rv!4
}

active proctype taker()
{
	byte x;
	do
	:: d_step { rv?x; got = got + x }
	od
}
