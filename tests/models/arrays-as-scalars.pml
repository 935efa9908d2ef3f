/* expect: stored 29, transitions 39, errors 0
 *
 * An array without an index is its first element.
 */
typedef record { byte v[3] = 4; byte w }
byte a[2] = 5;
record r[2];
chan q[2] = [1] of { byte };
chan s = [1] of { record };

proctype child(byte n; chan c)
{
	assert(n == 6);
	c!n
}

init
{
	a[1] = 2;
	a++;
	if
	:: a > 5 -> run child(a, q)
	fi;
	q[0]?a;
	assert(a[0] == 6 && a == 6 && a[1] == 2);
	q!a;
	assert(q?[eval(a)] && len(q) == 1 && empty(q[1]));
	r.v[1] = 3;
	r[1].v = 8;
	assert(r[0].v[1] == 3 && r[1].v[0] == 8);
	s!r;
	s?r[1];
	assert(r[1].v[1] == 3 && r[1].v == 4)
}
