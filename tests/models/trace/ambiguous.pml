/* expect: trace violated: ambiguous event
 *
 * A trace must never have a choice.
 */
chan c = [1] of { byte };

active proctype sender() { c!1 }

trace {
	do
	:: c!1; break
	:: c!_
	od
}
