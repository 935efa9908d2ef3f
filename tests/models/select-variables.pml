/* expect: stored 16, transitions 18, errors 0
 *
 * Between anything else, `select` is a loop that can be left at any time; in an inline too.
 */
byte x, low = 1;

inline choose(v) { select (v : 1 .. 2) }

active proctype main()
{
	select (x : low .. 3);
	choose(x)
}
