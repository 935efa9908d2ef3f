/* expect: stored 6, transitions 6, errors 1
 *
 * A field that a message lacks is received as 0, in a rendezvous too.
 */
chan little = [0] of { byte };
chan any;
byte x;

active proctype a()
{
	little!1
}

active proctype b()
{
	byte first, second = 7;
	any = little;
	any?first,second;
	if
	:: second == 7 -> x = 1; x = 2; x = 3
	:: else
	fi
}
