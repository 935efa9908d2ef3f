/* expect: trace holds
 *
 * All fields but the last have been stored when `eval` is asked.
 */
chan c = [1] of { byte, byte };
byte x = 9;

active proctype p() { c!5,6; c?x,6 }

trace { c!5,6; c?eval(x),_ }
