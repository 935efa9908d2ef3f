/* expect: safety violated: invalid end state
 *
 * Dining philosophers who all take the left fork first. Each holds one fork and waits for the other: a deadlock.
 */
#define N 4

bool taken[N];

active [N] proctype philosopher()
{
	do
	:: atomic { !taken[_pid] -> taken[_pid] = true };
	   atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };
	   /* eat */
	   taken[(_pid + 1) % N] = false;
	   taken[_pid] = false
	od
}
