/* expect: stored 5, transitions 5, errors 2
 *
 * A message with too few fields is an error when it is sent, and again when it is received.
 */
chan c = [1] of { byte, byte };

active proctype a()
{
	c!1
}

active proctype b()
{
	byte x;
	c?x
}
