/* expect: stored 4, transitions 4, errors 0
 *
 * A label with a meaning before a jump is a location of its own.
 */
byte x;

active proctype a()
{
	do
	:: x < 2 -> x++;
end1:		goto end2
	:: x == 2 -> break
	od;
end2:	x == 7
}
