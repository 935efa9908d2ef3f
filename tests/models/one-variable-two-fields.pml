/* expect: stored 16, transitions 16, errors 0
 *
 * An element or a field that receives two fields of a message keeps the last; so does any variable in a d_step.
 */
typedef record { byte f; byte g }
chan q = [2] of { byte, byte };
byte list[2];
byte i, n;
record r;

active proctype p()
{
	byte l;
	q!3,4;
	q!5,6;
	q?list[i],list[i];
	assert(list[0] == 4);
	q?<list[0],list[0]>;
	q??list[i],list[0];
	assert(list[0] == 6);
	q!7,8;
	q?r.f,r.f;
	assert(r.f == 8 && r.g == 0);
	q!9,10;
	assert(q?[n,n]);
	d_step { q?<n,n>; assert(n == 10); q?l,l };
	assert(l == 10 && n == 10)
}
