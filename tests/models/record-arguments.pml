/* expect: stored 55, transitions 93, errors 0
 *
 * Parameters that are records get the values of the arguments. The initial values of fields do not count for them, not even in a
 * process that is active from the beginning: there all is 0.
 */
typedef inner { byte v = 4; short w = 9 }
typedef outer { byte a = 3; inner i; bool f = 1 }
typedef port { byte n = 2; chan c = [1] of { byte } }
chan q = [1] of { outer, byte };

proctype child(byte before; outer r; byte behind)
{
	outer mine;
	byte copy = r.i.v;
	assert(r.a == 5 && r.i.v == 4 && r.i.w == 7 && !r.f);
	assert(before == 1 && behind == 2 && copy == 4);
	assert(mine.a == 3 && mine.i.v == 4 && mine.i.w == 9 && mine.f);
	q!r,behind
}

proctype user(port p)
{
	p.n == 2;
	p.c!p.n
}

active proctype idle(outer r)
{
	assert(r.a == 0 && r.i.v == 0 && r.i.w == 0 && !r.f)
}

init
{
	outer x;
	outer y;
	port p;
	byte z;
	x.a = 5;
	x.i.w = 7;
	x.f = 0;
	run child(1, x, 2);
	q?y,z;
	assert(y.a == 5 && y.i.v == 4 && y.i.w == 7 && !y.f && z == 2);
	run user(p);
	p.c?eval(p.n)
}
