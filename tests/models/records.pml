/* expect: stored 7, transitions 7, errors 0
 *
 * Records in arrays and in messages.
 */
typedef inner { byte v[2]; bool f }
typedef outer { inner i; short s }
outer o[2];
chan q = [1] of { byte, inner };

active proctype main()
{
	inner x;
	o[1].i.v[1] = 5;
	o[1].s = -3;
	q!1,o[1].i;
	q?_,x;
	assert(x.v[1] == 5 && o[1].s == -3 && !x.f)
}
