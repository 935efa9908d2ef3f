/* expect: stored 43, transitions 69, errors 0
 *
 * Sorted send, random receive, and looking without taking.
 */
chan q = [3] of { byte, byte };
byte x, y;

active proctype in()
{
	q!!2,1;
	q!!1,5;
	q!!1,3
}

active proctype out()
{
	do
	:: q??1,y -> x++
	:: q?<2,y>
	:: q??<eval(x),y>
	:: q?2,y -> break
	od;
	assert(y == 1)
}
