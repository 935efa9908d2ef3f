/* expect: stored 92, transitions 167, errors 0
 *
 * Of several skips in a row only one is a step.
 */
byte x;

active [2] proctype a()
{
	if
	:: x = 1; skip; skip; skip; x = 2
	:: printf("one\n"); skip; x = 3; skip; skip
	fi
}
