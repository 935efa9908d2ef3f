/* expect: safety holds
 * expect: acceptance violated: acceptance cycle
 * expect: progress violated: non progress cycle
 * expect: progress violated: non progress cycle, fair weak
 *
 * A process that may go round without progress, and one whose every other state is an acceptance state.
 */
bit x;
active proctype rounds() {
	do
	:: x = 1 - x
	:: x == 1 -> progress: x = 0
	od
}
active proctype swing() {
	bit y;
	do
	:: y = 1;
	   accept: y = 0
	od
}
