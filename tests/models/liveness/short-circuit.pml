/* expect: implied holds
 * expect: until holds
 * expect: together holds
 * expect: either holds
 * expect: released holds
 * expect: next holds
 * expect: later holds
 * expect: weak holds
 * expect: claimed holds
 * expect: always holds
 * expect: ever holds
 * expect: all_until holds
 * expect: some_until holds
 * expect: order violated: proposition
 * expect: equivalent violated: proposition
 * expect: reached violated: proposition
 * expect: branching_order violated: proposition
 *
 * What cannot be evaluated matters only where `&&`, `||` and `->` come to it, from left to right. `d` is never true, so that
 * no index is out of range where it is asked. The last ones ask all the same.
 */
byte m[2];
byte i;
bool d, p;
active proctype P() { i = 1; i = 0; do :: p = !p od }

ltl implied { [] (d -> m[i - 2] == 0) }
ltl until { !((d -> m[i - 2] == 1) U (i == 9)) }
ltl together { [] !(d && (m[i - 2] == 1 || m[i - 3] == 1)) }
ltl either { (!d || m[i - 2] == 1) W (i == 9) }
ltl released { (d && 1 / i == 1) V (i < 9) }
ltl next { X (d -> <> (m[i - 2] == 1)) }
ltl later { [] (d -> ((m[i - 2] == 1) U p)) }
ltl weak { [] (d -> [] (m[i - 2] == 1 && X (m[i - 2] == 0))) }
never claimed { do :: d && m[i - 2] == 1 -> break :: else od }
ctl always { AG (d -> m[i - 2] == 0) }
ctl ever { EF (p && (!d || m[i - 2] == 0)) }
ctl all_until { A((m[i - 2] == 1) U (i < 9)) }
ctl some_until { E((m[i - 2] == 1) U (i < 9)) }
ltl order { [] (m[i - 2] == 0 || !d) }
ltl equivalent { [] (d <-> m[i - 2] == 1) }
ltl reached { <> (i == 1 && m[i - 2] == 0) }
ctl branching_order { AG (m[i - 2] == 0 || !d) }
