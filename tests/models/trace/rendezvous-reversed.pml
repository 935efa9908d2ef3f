/* expect: trace violated: unexpected event
 *
 * Nothing is received before it is sent, not even in a rendezvous.
 */
chan c = [0] of { byte };

active proctype sender() { c!1 }

active proctype receiver() { c?1 }

trace { c?1; c!1 }
