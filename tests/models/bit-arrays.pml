/* expect: stored 8, transitions 8, errors 0
 *
 * Elements of bit arrays are bytes, and so is a lone bit in a message.
 */
bit b[2];
bit c;
chan q = [1] of { bit };

active proctype main()
{
	byte x;
	b[1] = 2;
	c = 2;
	assert(b[1] == 2 && c == 0);
	q!2;
	q?x;
	assert(x == 2)
}
