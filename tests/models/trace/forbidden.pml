/* expect: notrace violated: forbidden events
 *
 * What must not happen happens.
 */
chan c = [1] of { byte };

active proctype sender() { c!1; c!1 }

active proctype receiver() { c?1; c?1 }

notrace { c!1; c?1; c!1 }
