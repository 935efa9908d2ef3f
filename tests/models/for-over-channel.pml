/* expect: stored 20, transitions 20, errors 0
 *
 * `for` over a channel takes every message out and puts it back.
 */
typedef item { byte a; bit b }
chan q = [3] of { item };
byte sum;

active proctype main()
{
	item x;
	x.a = 3; x.b = 1;
	q!x;
	x.a = 4;
	q!x;
	for (x in q) {
		sum = sum + x.a
	}
	assert(sum == 7 && len(q) == 2)
}
