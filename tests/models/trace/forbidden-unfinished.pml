/* expect: notrace holds
 *
 * A run that ends before it has done what it must not do is innocent. (SPIN reports an invalid end state.)
 */
chan c = [1] of { byte };

active proctype sender() { c!1; end: false }

notrace { c!1; c?1 }
