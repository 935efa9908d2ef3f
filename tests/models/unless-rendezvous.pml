/* expect: stored 4, transitions 4, errors 0
 *
 * An escape that begins with a rendezvous send counts only if somebody receives.
 */
byte x;
chan rv = [0] of { byte };

active proctype main()
{
	do
	:: x < 3 -> x++
	:: x == 3 -> break
	od unless { rv!x }
}

active proctype other()
{
	byte y;
	rv?y
}
