/* expect: stored 12, transitions 15, errors 0
 *
 * What other processes can do, and where they are.
 */
byte x;

active proctype a()
{
	x == 1;
	x = 2
}

active proctype b()
{
	if
	:: enabled(0) -> x = 9
	:: !enabled(0) -> x = 1
	fi;
	pc_value(0) > 1 -> assert(x >= 1)
}
