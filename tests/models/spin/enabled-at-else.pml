/* expect: asked violated: refuted
 *
 * The process can always move, by `else`. SPIN's verifier looks at the claim instead: as soon as one of its alternatives
 * could be taken, it holds `else` of the process that a later one asks about for impossible.
 */
byte x;
active proctype P() { do :: x == 9 :: else od }

never asked
{
	do
	:: true
	:: enabled(0) -> break
	od;
accept_all:
	do
	:: true
	od
}
