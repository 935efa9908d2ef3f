/* expect: stored 205, transitions 205, errors 0
 *
 * Between many constants, `select` is a loop as well.
 */
byte x;

active proctype main()
{
	select (x : 0 .. 40);
	assert(x <= 40)
}
