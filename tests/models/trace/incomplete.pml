/* expect: trace violated: incomplete trace
 * expect: safety holds
 *
 * The run ends where processes may end, but the trace may not.
 */
chan c = [1] of { byte };

active proctype sender() { c!1; end: false }

active proctype receiver() { c?1 }

trace { c!1; c?1; c!1 }
