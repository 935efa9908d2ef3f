/* expect: stored 14, transitions 19, errors 3
 *
 * Where another process is, and what its variables are.
 */
active proctype a()
{
	byte x;
first:	x = 1;
second:	x = 2;
third:	skip
}

active proctype b()
{
	do
	:: a@second -> assert(a:x == 1)
	:: a[0]@third -> assert(a[0]:x == 2); break
	od
}
