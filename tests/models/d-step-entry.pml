/* expect: stored 6, transitions 7, errors 0
 *
 * Of a choice at the beginning of a `d_step`, only branches that begin with a condition are asked.
 */
byte x, y;

active proctype main()
{
	d_step {
		if
		:: x = 1
		:: y > 0 -> x = 2
		fi
	}
}

active proctype other()
{
	y = 1
}
