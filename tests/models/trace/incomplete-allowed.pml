/* expect: trace holds
 *
 * A label says that the run may end in the middle of the trace.
 */
chan c = [1] of { byte };

active proctype sender() { c!1; end: false }

active proctype receiver() { c?1 }

trace { c!1; c?1; end: c!1 }
