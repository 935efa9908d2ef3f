/* expect: stored 10, transitions 10, errors 0
 *
 * Between constants, `select` is a choice of assignments.
 */
byte x;

active proctype main()
{
	select (x : 1 .. 3);
	assert(x < 4)
}
