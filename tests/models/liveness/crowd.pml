/* expect: p violated: acceptance cycle
 * expect: p inconclusive, fair weak
 *
 * More processes than can be treated fairly: what is found then may not be a fair run, and is not told.
 */
byte x;
active [70] proctype P() { x = 1 - x }
ltl p { <> (x == 2) }
