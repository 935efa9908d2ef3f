/* expect: watched violated: acceptance cycle
 *
 * `np_` asks where processes are. SPIN's verifier takes the claim for one of them, and finds that its own label is progress.
 */
byte x;
active proctype P() { do :: x = 1 - x od }

never watched
{
	do
	:: np_ -> goto accept_stays
	:: true
	od;
accept_stays:
progress_stays:
	do
	:: np_
	od
}
