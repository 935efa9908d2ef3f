/* expect: stored 21, transitions 26, errors 0
 *
 * A process moves only if none of higher priority can.
 */
byte x;

proctype worker()
{
	byte i;
	x++;
	i = 1;
	set_priority(_pid, 1);
	x++
}

active proctype main() priority 2
{
	byte i;
	run worker() priority 3;
	run worker();
	assert(x >= 1);
	i = get_priority(1)
}
