/* expect: trace holds
 *
 * Jumps between events take nothing; those that stand where an event could be, and labels alone, fit any.
 */
chan c = [6] of { byte };

active proctype sender() { c!1; c!2; c!3; c!4; c!5; c!6 }

trace {
	c!1;
	goto there;
	c!9;
	there:
	c!2;
	if
	:: c!7
	:: goto next
	fi;
	next:
	c!4;
	c!5 unless c!7;
	last:
}
