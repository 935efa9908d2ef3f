/* expect: stored 3, transitions 3, errors 0
 *
 * The names of an mtype declaration are numbered backwards, those of later declarations go on.
 */
mtype = { a, b, c };
mtype = { d, e };
mtype:fruit = { apple, pear };

active proctype main()
{
	assert(c == 1 && b == 2 && a == 3 && e == 4 && d == 5 && pear == 1 && apple == 2)
}
