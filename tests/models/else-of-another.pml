/* expect: stored 7, transitions 9, errors 0
 *
 * Whether another process could take its `else` depends on who asks, and when.
 */
active proctype a()
{
	else
}

active proctype b()
{
	if
	:: true
	:: enabled(0)
	fi
}
