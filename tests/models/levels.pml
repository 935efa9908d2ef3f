/* expect: safety violated: assertion
 *
 * Counters that go up and down, and an observer who finds something wrong, but late. With a larger `N` it takes a while: for
 * searches that are killed and resumed.
 */
#ifndef N
#define N 6
#endif

byte level[3];

active [3] proctype counter()
{
	do
	:: level[_pid] < N -> level[_pid]++
	:: level[_pid] > 1 -> level[_pid]--
	:: level[_pid] > N -> break
	od
}

active proctype observer()
{
	level[0] == N && level[1] == N && level[2] == N - 2 -> assert(level[0] + level[1] < 2 * N)
}

ltl bounded { [] (level[0] <= N) }
