/* expect: safety holds
 * expect: reduced 32
 *
 * Whoever is started uses the channel that he is given, and his own. Nobody else has to do with these: so those who are
 * there already need not wait for what a newcomer may do.
 */
proctype stage(chan in; byte first)
{
	chan out = [0] of { byte, bool };
	byte x;
	bool is_last = true;
	do
	:: in?x, true ->
		if
		:: x % 2 == 1
		:: x % 2 == 0 ->
			if
			:: is_last -> is_last = false; run stage(out, x)
			:: else -> assert(x > first); out!x, true
			fi
		fi
	:: in?_, false -> break
	od;
	if
	:: is_last
	:: else -> out!0, false
	fi
}

init {
	chan out = [0] of { byte, bool };
	run stage(out, 0);
	out!1, true; out!2, true; out!3, true; out!4, true; out!6, true; out!0, false
}
