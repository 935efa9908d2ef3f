/* expect: somebody holds
 * expect: everybody violated: acceptance cycle, fair weak
 * expect: everybody holds, fair strong
 *
 * Three philosophers; the last one takes the forks in the other order, so that they never all wait for each other.
 * That somebody eats again and again is true of all runs; that each one does, only of strongly fair ones.
 */
#define N 3

bool taken[N];
bool eats[N];

#define left (_pid == N - 1 -> 0 : _pid)
#define right (_pid == N - 1 -> _pid : _pid + 1)

active [N] proctype philosopher() {
	do
	:: atomic { !taken[left] -> taken[left] = true };
	   atomic { !taken[right] -> taken[right] = true };
	   eats[_pid] = true;
	   eats[_pid] = false;
	   taken[right] = false;
	   taken[left] = false
	od
}

ltl somebody { [] <> (eats[0] || eats[1] || eats[2]) }
ltl everybody { ([] <> eats[0]) && ([] <> eats[1]) && ([] <> eats[2]) }
