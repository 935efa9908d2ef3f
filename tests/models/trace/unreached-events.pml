/* expect: trace violated: unexpected event
 *
 * A channel is watched even if nothing leads to where the trace names it.
 */
chan c = [2] of { byte };
chan d = [1] of { byte };

active proctype p() { c!5; d!1; c!4 }

trace {
	c!5;
	goto there;
	d!4;
	there:
	c!4
}
