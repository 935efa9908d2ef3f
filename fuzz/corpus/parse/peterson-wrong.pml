/* expect: safety violated: assertion
 *
 * Peterson's algorithm with two statements exchanged: each process first gives way, then says that it wants in.
 * That both can then be inside is easy to overlook, and takes entail a few states to show.
 */
bool wants[2];
byte turn;
byte inside;

active [2] proctype user()
{
	do
	:: turn = _pid;
	   wants[_pid] = true;
	   (!wants[1 - _pid] || turn == 1 - _pid);	/* wait */

	   inside++;
	   assert(inside == 1);
	   inside--;

	   wants[_pid] = false
	od
}
