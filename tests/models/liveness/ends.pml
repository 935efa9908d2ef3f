/* expect: stays holds
 * expect: passes holds
 * expect: returns violated: acceptance cycle
 * expect: comes violated: acceptance cycle
 *
 * A run that ends remains in its last state for ever.
 */
byte x;
active proctype counter() { x = 1; x = 2 }

ltl stays { <> [] (x == 2) }
ltl passes { [] (x == 1 -> X (x == 2)) }
ltl returns { [] <> (x == 1) }
ltl comes { <> (x == 3) }
