/* expect: safety violated: assertion
 *
 * Two processes that increment a shared counter without protection: an update is lost.
 */
byte counter;
byte finished;

active [2] proctype worker()
{
	byte copy;

	copy = counter;
	counter = copy + 1;
	finished++
}

active proctype observer()
{
	finished == 2 -> assert(counter == 2)
}
