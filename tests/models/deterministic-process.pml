/* expect: stored 9, transitions 11, errors 1
 *
 * A D_proctype must not have a choice; steps that do nothing are not looked at.
 */
byte x;

active D_proctype a()
{
	if
	:: x < 2 -> skip
	:: x == 0 -> x = 1
	fi;
	if
	:: true
	:: true
	fi
}
