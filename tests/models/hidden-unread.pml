/* expect: stored 18, transitions 21, errors 0
 *
 * A hidden variable that nothing reads is no part of the state.
 */
hidden byte scratch;
byte x;

active proctype main()
{
	do
	:: x < 3 -> scratch = x; x++
	:: x > 0 -> x--; scratch = 7
	:: x == 2 -> break
	od
}
