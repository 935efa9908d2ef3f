/* expect: stored 35, transitions 66, errors 0
 *
 * Jumps out of and between atomic sequences.
 */
byte x;

active [2] proctype p()
{
	atomic {
		x = 1;
		if
		:: x == 1 -> goto second
		:: goto out
		fi;
		x = 3
	};
second:	atomic { x = 4; x = 5; goto out };
out:	x = 6
}
