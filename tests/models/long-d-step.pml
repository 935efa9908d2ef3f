/* expect: stored 4, transitions 4, errors 0
 *
 * A deterministic sequence of a million steps ends, and no limit of the tool is taken for an error of the model.
 */
int x;

active proctype p()
{
	d_step {
		x = 0;
		do
		:: x < 400000 -> x++
		:: else -> break
		od
	};
	assert(x == 400000)
}
