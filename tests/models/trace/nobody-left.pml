/* expect: trace holds
 *
 * Where no process is left, a trace need not be complete.
 */
chan c = [1] of { byte };

active proctype sender() { c!1 }

active proctype receiver() { c?1 }

trace { c!1; c?1; c!1 }
