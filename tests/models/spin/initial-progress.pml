/* expect: begins holds
 *
 * The process is at its progress label from the beginning. SPIN's verifier never marks the initial state, where `np_` is true
 * for it.
 */
byte x;
active proctype P()
{
progress:
	do
	:: x = 1 - x
	od
}

ltl begins { !np_ }
