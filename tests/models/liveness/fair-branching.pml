/* expect: linear violated: acceptance cycle
 * expect: branching violated: refuted
 * expect: linear violated: acceptance cycle, fair weak
 * expect: branching violated: refuted, fair weak
 * expect: linear holds, fair strong
 * expect: branching holds, fair strong
 * expect: linear holds, fair impartial
 * expect: branching holds, fair impartial
 * expect: branching holds, fair component
 *
 * The lock is free again and again, but not for good: a weakly fair run may pass over the first process each time. The
 * same formula of linear and of branching time has the same verdict with every kind of fairness.
 */
bool taken, waits, served;

active proctype first() {
	do
	:: waits = true;
	   atomic { !taken -> taken = true };
	   served = true;
	   atomic { served = false; waits = false; taken = false }
	od
}

active proctype second() {
	do
	:: atomic { !taken -> taken = true };
	   taken = false
	od
}

ltl linear { [] (waits -> <> served) }
ctl branching { AG (waits -> AF served) }
