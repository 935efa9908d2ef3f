/* expect: trace holds
 *
 * A rendezvous is two events: first the message is sent, then it is received.
 */
chan c = [0] of { byte };

active proctype sender() { c!1; c!2 }

active proctype receiver() { byte x; c?x; c?x }

trace { c!1; c?1; c!2; c?2 }
