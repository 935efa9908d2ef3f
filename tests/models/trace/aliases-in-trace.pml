/* expect: trace holds
 *
 * The variable of the trace leads now to one channel, and then to another.
 */
chan c = [2] of { byte };
chan d = [2] of { byte };
chan watched;

active proctype p()
{
	watched = c;
	c!1;
	d!9;
	watched = d;
	c!8;
	d!2
}

trace { watched!1; watched!2 }
