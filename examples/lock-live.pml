/* expect: served violated: acceptance cycle
 * expect: served violated: acceptance cycle, fair weak
 * expect: served holds, fair strong
 *
 * A lock that whoever finds it free may take.
 * Each time a process looks, the other one may have been faster. Weak fairness does not help, because the lock is not
 * always free; strong fairness does, because it is free again and again.
 */
bool taken;
bool inside[2];

active [2] proctype user() {
	do
	:: atomic { !taken -> taken = true };
	   inside[_pid] = true;
	   inside[_pid] = false;
	   taken = false
	od
}

ltl served { [] <> inside[0] }
