/* expect: safety violated: index
 * expect: same violated: refuted
 * expect: later violated: acceptance cycle
 *
 * Steps that break end a run. Where they have nothing to do with any others, they must not be taken alone all the same: the
 * run can go on by the others instead.
 */
int x = 1;

active proctype counter() { x++; do :: x = 5 - x od }
active proctype breaker() {
	byte i = 2;
	byte own[2];
	own[0] = 1;
	own[i] = 1;
	own[0] = 0
}
active proctype inside() {
	byte i = 2;
	byte own[2];
	atomic { own[0] = 1; own[i] = 1 }
}
active proctype around() {
	bool b;
	again: atomic { b = 1 - b; do :: b = 1 - b od }
}

ltl same { [] (x == 1) }
ltl later { <> [] (x == 2) }
