/* expect: safety holds
 *
 * Peterson's algorithm for mutual exclusion of two processes (1981).
 * `inside` counts the processes in the critical section: it is there only to say what must hold.
 */
bool wants[2];
byte turn;
byte inside;

active [2] proctype user()
{
	do
	:: wants[_pid] = true;
	   turn = _pid;
	   (!wants[1 - _pid] || turn == 1 - _pid);	/* wait */

	   inside++;
	   assert(inside == 1);
	   inside--;

	   wants[_pid] = false
	od
}
