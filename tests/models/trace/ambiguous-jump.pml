/* expect: trace violated: ambiguous event
 *
 * To leave a loop by `break` alone takes an event, too, whichever it is.
 */
chan c = [2] of { byte };

active proctype sender() { c!1; c!2 }

trace {
	do
	:: c!1
	:: break
	od;
	c!2
}
