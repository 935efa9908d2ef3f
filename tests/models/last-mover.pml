/* expect: stored 33, transitions 51, errors 7
 *
 * Who moved last is part of the state if it is asked for.
 */
byte x;

active [2] proctype a()
{
	x++;
	assert(_last == _pid || x < 2);
	x++
}
