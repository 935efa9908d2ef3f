/* expect: safety violated: division by zero
 * expect: trace inconclusive
 *
 * What would be sent behind the fault is not known.
 */
chan c = [1] of { byte };
byte d;

trace { do :: c!1 :: c?1 od }

active proctype P() { c!1; c?d; d = 1 / (d - 1); c!2 }
