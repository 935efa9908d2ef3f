/* expect: stored 5, transitions 5, errors 0
 *
 * Fields are received one after the other.
 */
chan q = [1] of { byte, byte };
byte i, a[3];

active proctype main()
{
	q!2,7;
	q?i,a[i];
	assert(a[2] == 7 && a[0] == 0)
}
