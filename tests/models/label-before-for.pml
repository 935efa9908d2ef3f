/* expect: stored 24, transitions 24, errors 0
 *
 * A label before `for` labels the loop, not the first assignment.
 */
byte i, n;

active proctype main()
{
again:	for (i : 1 .. 3) {
		n++
	};
	if
	:: n < 4 -> i = 2; goto again
	:: else
	fi;
	assert(n == 5)
}
