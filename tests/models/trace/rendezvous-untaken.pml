/* expect: trace holds
 *
 * Nobody takes the message, so nothing is sent. (SPIN reports an error.)
 */
chan c = [0] of { byte };

active proctype sender() { end: c!2 }

trace { end: do :: c!1; c?1 od }
