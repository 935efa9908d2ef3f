/* expect: stored 16, transitions 16, errors 0
 *
 * A declaration behind a statement is an assignment, of an array only to its first element.
 */
active proctype main()
{
	byte i;
	do
	:: i < 2 ->
		byte a[2];
		byte b = i;
		a[0]++;
		a[1]++;
		i++
	:: else -> break
	od;
	assert(a[0] == 1)
}
