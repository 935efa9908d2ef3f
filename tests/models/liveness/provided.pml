/* expect: p violated: acceptance cycle
 * expect: p violated: acceptance cycle, fair weak
 * expect: p violated: acceptance cycle, fair strong
 *
 * A process that may never move is treated fairly if it does not. (SPIN's fair search finds no run here.)
 */
byte z;
active proctype waiter() provided (z == 7) { z = 1 }
active proctype clock() { bit tick; do :: tick = 1 - tick od }
ltl p { <> (z == 1) }
