/* expect: stored 29, transitions 50, errors 3
 *
 * A label that another process refers to is a location, even before a jump.
 */
byte x;

active proctype a()
{
again:	x = 1;
	if
	:: x == 1 -> x = 2
	:: x == 1 -> x = 3
	fi;
here:	goto again
}

active proctype b()
{
	a@here -> assert(x > 1)
}
