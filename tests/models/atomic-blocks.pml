/* expect: stored 11, transitions 12, errors 1
 *
 * An atomic sequence that cannot go on is interrupted, and resumed later.
 */
byte x;
chan q = [1] of { byte };

active proctype a()
{
	atomic { x++; q!1; q!2; x++; assert(x > 2) }
}

active proctype b()
{
	byte y;
	do
	:: q?y -> x = x + y
	:: x > 3 -> break
	od
}
