/* expect: stored 1, transitions 1, errors 1
 *
 * A deterministic sequence that comes back to where it was does not end. (SPIN's verifier does not end either.)
 */
byte x;

active proctype p()
{
	d_step {
		do
		:: x < 100 -> x++
		:: else -> x = 0
		od
	};
	assert(x == 3)
}
