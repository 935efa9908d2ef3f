/* expect: trace violated: proposition
 *
 * What the trace asks has no answer.
 */
chan c = [1] of { byte };
byte x;

active proctype p() { c!5; c?5 }

trace { c!5; c?eval(1 / x) }
