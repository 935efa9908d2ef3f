/* expect: trace holds
 * expect: safety holds
 *
 * Messages come and go one at a time. The run may end where the loop begins.
 */
chan c = [2] of { byte };

active proctype sender()
{
	c!1;
	empty(c);
	c!1;
	empty(c);
	c!3
}

active proctype receiver()
{
	c?1;
	c?1;
	endwait:
	c?2
}

trace {
	end:
	do
	:: c!1; c?1
	:: c!3
	od
}
