/* expect: stored 28, transitions 40, errors 0
 *
 * Processes die in the order opposite to their creation.
 */
byte x;

proctype child(byte n)
{
	chan own = [1] of { byte };
	own!n;
	x = x + n
}

init {
	pid p;
	p = run child(1);
	assert(p == 1);
	run child(2);
	_nr_pr == 1 -> assert(x == 3)
}
