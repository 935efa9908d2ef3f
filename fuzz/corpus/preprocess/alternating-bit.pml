/* expect: safety holds
 *
 * The alternating bit protocol over a channel that loses messages. The receiver checks that numbers arrive in
 * order, without gaps and without repetitions.
 */
mtype = { data, ack };

#define MAX 4

chan forward  = [1] of { mtype, byte, bit };
chan backward = [1] of { mtype, bit };

active proctype sender()
{
	byte number;
	bit sequence, received;

end:	do
	:: forward!data(number, sequence);
	   if
	   :: backward?ack(received) ->
		if
		:: received == sequence ->
			number = (number + 1) % MAX;
			sequence = 1 - sequence
		:: else
		fi
	   :: timeout			/* something was lost: send again */
	   fi
	od
}

active proctype receiver()
{
	byte number, expected;
	bit sequence, awaited;

end:	do
	:: forward?data(number, sequence) ->
		if
		:: sequence == awaited ->
			assert(number == expected);
			expected = (expected + 1) % MAX;
			awaited = 1 - awaited
		:: else
		fi;
		backward!ack(sequence)
	:: forward?data(_, _)		/* lost */
	od
}
