/* expect: trace holds
 * expect: safety violated: assertion
 *
 * A failed assertion and a deadlock are no concern of the trace.
 */
chan c = [1] of { byte };
byte x;

active proctype sender()
{
	c!1;
	assert(false);
	if
	:: x = 1
	:: c!1; x == 5
	fi
}

trace { c!1; c!1; c!1 }
