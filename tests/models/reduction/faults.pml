/* expect: safety violated: index
 * expect: loops violated: acceptance cycle
 * expect: reached inconclusive
 * expect: counted inconclusive
 *
 * A fault ends the run for all processes: a search that puts a faulty step off until a visible one was taken would not see
 * that a run may end before it; one that takes only the faulty step would not see how others go on.
 */
byte x, y, a[2], i = 5;

active proctype P() { x = 1; y = 1; do :: y = 3 - y od }
active proctype Q() { byte k; k = 1; a[i] = k }
active proctype R() { byte k; k = 2; k = 3 }

ltl loops { <> (y == 3) }
ltl reached { <> (x == 1) }
ltl counted { <> (y == 1) }
