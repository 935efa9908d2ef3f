/* expect: trace violated: unexpected event
 *
 * The last field has not been stored when `eval` is asked.
 */
chan c = [1] of { byte, byte };
byte x = 9, y;

active proctype p() { c!5,6; c?y,x }

trace { c!5,6; c?_,eval(x) }
