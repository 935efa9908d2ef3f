/* expect: stored 4, transitions 4, errors 0
 *
 * A state of more than 64 KB, which SPIN explores with -DVECTORSZ.
 */
int a[20000];

active proctype p()
{
	a[19999] = 2; assert(a[19999] == 2)
}
