/* expect: safety violated: index
 * expect: all_reach violated: acceptance cycle
 * expect: all_reach inconclusive, fair weak
 * expect: all_reach inconclusive, fair strong
 * expect: all_reach inconclusive, fair impartial
 * expect: all_reach inconclusive, fair component
 * expect: none_reaches inconclusive
 * expect: all_small inconclusive
 * expect: next inconclusive
 * expect: some_reaches holds
 * expect: some_reaches holds, fair weak
 * expect: all_stay violated: refuted
 * expect: before holds
 * expect: starts holds
 * expect: some_stay holds
 * expect: all_move violated: acceptance cycle
 * expect: all_move holds, fair weak
 *
 * A run that ends in a fault decides nothing. The writer ends in one before `x` is 3, so that no fair run reaches it and yet
 * none avoids it. Formulas that do not depend on what comes beyond the fault have an answer.
 */
byte values[2];
byte index = 5;
byte x;

active proctype writer() {
	x = 1;
	x = 2;
	values[index] = 1;
	x = 3
}

active proctype idler() {
	do
	:: skip
	od
}

ctl all_reach { AF (x == 3) }
ctl none_reaches { !EF (x == 3) }
ctl all_small { AG (x < 3) }
ctl next { AG (x == 2 -> AX (x == 2)) }
ctl some_reaches { EF (x == 2) }
ctl all_stay { AG (x == 0) }
ctl before { A(x == 0 W x == 1) }
ctl starts { AX (x < 2) }
ctl some_stay { EG (x == 0) }
ctl all_move { AF (x > 0) }
