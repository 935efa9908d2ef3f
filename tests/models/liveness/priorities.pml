/* expect: p violated: acceptance cycle
 * expect: p violated: acceptance cycle, fair weak
 * expect: p violated: acceptance cycle, fair strong
 *
 * A process that waits for ever is treated fairly, in models with priorities as well. (SPIN's fair search finds no run.)
 */
byte z, y;
active proctype reader() { y = get_priority(0) }
active proctype waiter() { z == 7 -> z = 1 }
active proctype clock() { bit tick; do :: tick = 1 - tick od }
ltl p { <> (z == 1) }
