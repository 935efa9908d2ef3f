/* expect: stored 3, transitions 3, errors 0
 *
 * Globals get their values type by type, locals in order.
 */
int a = 3;
byte b = a;
int c = b + 4;

active proctype main()
{
	int d = 3;
	byte e = d;
	assert(b == 0 && c == 4 && e == 3)
}
