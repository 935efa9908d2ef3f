/* expect: notrace holds
 *
 * Only the first attempt counts: once an event does not fit, nothing is forbidden any more.
 */
chan c = [1] of { byte };

active proctype sender() { c!2; c!1 }

active proctype receiver() { byte x; c?x; c?x }

notrace { c!1; c?1 }
