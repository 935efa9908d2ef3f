/* expect: safety violated: division by zero
 * expect: flips violated: acceptance cycle
 * expect: stays violated: refuted
 * expect: one inconclusive
 * expect: one inconclusive, fair weak
 * expect: begins holds
 * expect: settled holds
 *
 * A run that violates a formula counts although others end in a fault. A fault that comes after a formula has become true
 * does not matter to it.
 */
byte x, y, zero, other;

active proctype P()
{
	do
	:: y < 3 -> y++
	:: y == 3 -> y = 0; x = 1 - x
	od
}

active proctype Q()
{
	byte k;
	k = 1;
	(x == 1);
	k = k / zero
}

ltl flips { <> (x == 2) }
ltl stays { [] (x == 0) }
ltl one { [] <> (x == 1) }
ltl begins { y == 0 && x == 0 }
ltl settled { (other == 0) U (x == 0) }
