/* expect: runs holds
 * expect: waits holds
 * expect: other violated: refuted
 * expect: missing holds
 * expect: itself violated: proposition
 * expect: before holds
 * expect: by_pid holds
 * expect: written holds
 * expect: branching holds
 *
 * A formula or a claim that asks whether process 0 is enabled does not ask about itself: SPIN numbers its claim -1.
 */
byte x;
active proctype A() { do :: x = 1 - x od }
active proctype B() { (x == 9) }

ltl runs { [] enabled(0) }
ltl waits { [] !enabled(1) }
ltl other { [] enabled(1) }
ltl missing { [] !enabled(2) }
ltl itself { [] !enabled(-1) }
ltl before { [] !enabled(-2) }
ltl by_pid { [] enabled(_pid) }
never written { do :: !enabled(0) -> break :: else od }
ctl branching { AG (enabled(0) && !enabled(1)) }
