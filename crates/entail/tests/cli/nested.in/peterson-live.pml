/* expect: apart holds
 * expect: served violated: acceptance cycle
 * expect: served holds, fair weak
 *
 * Peterson's algorithm: who wants to enter does enter, in the end.
 * Without fairness that is wrong: nothing keeps a run from leaving a process alone for ever. Weak fairness is enough:
 * whoever waits can go on as soon as it is its turn, and that remains so.
 */
bool wants[2];
bool inside[2];
byte turn;

active [2] proctype user() {
	do
	:: wants[_pid] = true;
	   turn = _pid;
	   (!wants[1 - _pid] || turn == 1 - _pid);
	   inside[_pid] = true;
	   inside[_pid] = false;
	   wants[_pid] = false
	od
}

ltl apart { [] !(inside[0] && inside[1]) }
ltl served { [] (wants[0] -> <> inside[0]) }
