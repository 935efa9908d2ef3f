/* expect: stored 37, transitions 145, errors 0
 *
 * Every path through an atomic sequence counts as a transition of its own.
 */
byte x, y;

active [2] proctype p()
{
	atomic {
		if
		:: x = 1
		:: x = 1
		:: x = 2
		fi;
		do
		:: y < 2 -> y++
		:: break
		od
	}
}
