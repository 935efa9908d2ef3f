/* expect: moves violated: acceptance cycle
 * expect: moves holds, fair weak
 * expect: moves holds, fair strong
 * expect: moves holds, fair impartial
 * expect: catches violated: acceptance cycle, fair weak
 * expect: catches holds, fair strong
 * expect: catches holds, fair impartial
 * expect: unblocks violated: acceptance cycle, fair weak
 * expect: unblocks violated: acceptance cycle, fair strong
 * expect: unblocks holds, fair impartial
 *
 * Four kinds of fairness, each of which allows less than the one before: `idle` can always move, `catcher` every other
 * moment, and `blocked` never, so that there is no impartial run at all.
 */
bit clock;
bool moved, caught, unblocked;

active proctype ticker() { do :: clock = 1 - clock od }
active proctype idle() { moved = true; do :: moved = true od }
active proctype catcher() { do :: clock == 1 -> caught = true od }
active proctype blocked() { false; unblocked = true }

ltl moves { <> moved }
ltl catches { <> caught }
ltl unblocks { <> unblocked }
