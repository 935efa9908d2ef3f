/* expect: safety violated: division by zero
 * expect: sent_at_last inconclusive
 *
 * The variable is read nowhere but where it is stored again. That may go wrong.
 */
byte d = 1;
bool sent;

active proctype P() { d = 6 / (d - 1); sent = true }

ltl sent_at_last { <> sent }
