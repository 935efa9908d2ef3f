/* expect: stored 7, transitions 9, errors 0
 *
 * Inside a `d_step` the first possible branch is taken.
 */
byte x, y;

active [2] proctype main()
{
	d_step {
		y++;
		do
		:: x > 2 -> break
		:: y == 2 -> x = 3
		:: y < 3 -> x++
		:: else -> break
		od;
		assert(x > 0)
	}
}
