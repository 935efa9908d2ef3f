/* expect: stored 42, transitions 62, errors 0
 *
 * Escapes: the inner one is asked first, and an escape can be escaped from.
 */
byte x;

active proctype main()
{
	{
		{ x = 1; x = 2; x = 3 } unless { x == 2 -> x = 5; x = 6 }
	} unless { x >= 5 -> x = 7 };
	x = 8
}

active proctype other()
{
	x = x + 1
}
