/* expect: trace violated: unexpected event
 *
 * A trace that has come to its end allows nothing more.
 */
chan c = [1] of { byte };

active proctype sender() { c!1; c!1 }

active proctype receiver() { c?1; c?1 }

trace { c!1; c?1 }
