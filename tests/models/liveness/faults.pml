/* expect: safety violated: index
 * expect: never_nine inconclusive
 * expect: nine inconclusive
 * expect: stays inconclusive
 * expect: one inconclusive
 * expect: one inconclusive, fair weak
 * expect: one inconclusive, fair strong
 * expect: acceptance inconclusive
 * expect: progress inconclusive
 *
 * Every run ends in a fault, and such a run decides nothing: neither a formula nor its negation holds.
 */
byte a[2], x;
int i = 5;

active proctype P()
{
progress:
	do
	:: a[i] = 1;
accept:	   x = 1
	od
}

ltl nine { <> (x == 9) }
ltl never_nine { !<> (x == 9) }
ltl stays { [] (x == 0) }
ltl one { <> (x == 1) }
