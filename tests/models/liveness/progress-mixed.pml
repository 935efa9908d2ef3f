/* expect: progress violated: non progress cycle
 * expect: progress holds, fair weak
 * expect: progress holds, fair strong
 *
 * One process ends, the other goes on; with fairness it makes progress.
 */
byte x;

active proctype ends() { x = 1; (x == 3) }

active proctype goes_on()
{
	do
	:: x == 1 -> progress: x = 2
	:: x == 2 -> x = 3; break
	:: x == 0 -> skip
	od
}
