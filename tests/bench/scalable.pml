/* expect: stored 1030301, transitions 3060301, errors 0
 *
 * Three counters that know nothing of each other: the number of states is known, and grows with the cube of `N`.
 *
 * Each counter is at the head of its loop with a value of 0 to N, or behind the guard with one of 0 to N - 1. These are
 * 2N + 1 states, and 2N steps between them. So together:
 *
 *     states       (2N + 1)^3
 *     transitions  3 * 2N * (2N + 1)^2, and one for the initial state, as SPIN counts
 *
 * Counters only go up: if they started over, a depth-first search would have a stack as deep as there are states, and
 * would measure that stack.
 */
#ifndef N
#define N 50
#endif

/* A variable, so that SPIN does not merge a guard with its step when it optimises. Global counters would do as well,
 * but an array of them happens to defeat SPIN's hash function, which would be no fair comparison.
 */
short limit = N;

active [3] proctype counter()
{
	short count;

end:
	do
	:: count < limit -> count++
	od
}
