/* expect: safety holds
 * expect: counted holds
 * expect: one violated: refuted
 *
 * Claims and formulas only watch: they are no processes, and what a model does is the same without them.
 */
byte n;
active proctype P() { n = _nr_pr; assert(n == 1) }

ltl counted { [] (_nr_pr < 2) }
ltl one { [] (_nr_pr != 1) }
