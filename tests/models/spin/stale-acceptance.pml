/* expect: acceptance holds
 * expect: acceptance holds, fair weak
 *
 * No run passes an acceptance label again and again, or ends at one. With -f, SPIN's verifier reports that a run stutters in
 * acceptance: it adds a step where all processes are blocked, and the mark of that step is left over from `accept_2`, which
 * stood at the same depth before.
 */
byte x;

active [4] proctype Idle()
{
end:	false
}

active proctype P()
{
	x = 1;
accept_1:
	x = 2;
	if
	:: x = 3; x = 4;
accept_2:
	   x = 5; x = 6
	:: x = 7
	fi;
end:	(x == 0)
}
