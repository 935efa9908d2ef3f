/* expect: stored 6, transitions 6, errors 0
 *
 * A process with a `provided` clause moves only where it holds.
 */
byte turn;

active proctype a() provided (turn == 0)
{
	turn = 1;
	turn = 0;
	assert(turn == 0)
}

active proctype b() provided (turn != 0)
{
	turn = 2;
	turn = 0
}
