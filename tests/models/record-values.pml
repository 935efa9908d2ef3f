/* expect: stored 6, transitions 6, errors 0
 *
 * The initial value of a record is ignored: its fields have those of its type.
 */
typedef inner { byte a; byte b = 4 }
typedef outer { inner i = 7; inner list[2] = 3 }
byte nine = 9;
inner one = 7;
inner two[2] = { 7, 8 };
outer o;

active proctype p()
{
	inner mine[2] = nine;
	assert(one.a == 0 && one.b == 4);
	assert(two[1].a == 0 && two[1].b == 4);
	assert(mine[1].a == 0 && mine[1].b == 4);
	assert(o.i.a == 0 && o.i.b == 4 && o.list[1].a == 0 && o.list[1].b == 4)
}
