/* expect: never_stuck violated: refuted
 * expect: stuck holds
 * expect: waiting holds
 * expect: claimed violated: claim end
 * expect: reachable holds
 *
 * In a formula and in a claim, too, `timeout` is true where no process can move otherwise; so it is for a process that
 * `enabled` asks about.
 */
byte x;
active proctype P() { x = 1; timeout -> x = 2; end: (x == 9) }

ltl never_stuck { [] !timeout }
ltl stuck { [] (timeout -> x >= 1) && <> [] timeout }
ltl waiting { [] (x == 1 -> enabled(0)) }
never claimed { do :: timeout && x == 1 -> break :: else od }
ctl reachable { EF (timeout && x == 1) }
