/* expect: trace holds
 * expect: safety holds
 *
 * It does not matter where the trace stands. (In SPIN, process 0 can then take part in no rendezvous.)
 */
chan c = [0] of { byte };

trace { c!1; c?1 }

active proctype sender() { c!1 }

active proctype receiver() { c?1 }
