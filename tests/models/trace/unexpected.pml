/* expect: trace violated: unexpected event
 * expect: safety holds
 *
 * Only the second message is another one than the trace expects.
 */
chan c = [1] of { byte };

active proctype sender() { c!1; c!2 }

active proctype receiver() { byte x; c?x; c?x }

trace {
	end:
	do
	:: c!1; c?1
	od
}
