/* expect: stored 12, transitions 14, errors 1
 *
 * `timeout` is true where nothing else can move.
 */
byte x;
chan q = [1] of { byte };

active proctype a()
{
	atomic { x = 1; timeout -> x = 2 };
	q!1
}

active proctype b()
{
	byte y;
	do
	:: q?y -> break
	:: timeout -> assert(x == 1); x = 3
	od
}
