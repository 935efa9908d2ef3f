/* expect: safety holds
 *
 * Leader election in a ring: everybody sends its number around, passes on greater ones, and swallows smaller
 * ones. Who gets its own number back is the leader: there must be exactly one, the greatest.
 */
#define N 4

chan link[N] = [N] of { byte };
byte leaders;

proctype node(byte place; byte number)
{
	byte seen;

	link[(place + 1) % N]!number;
end:	do
	:: link[place]?seen ->
		if
		:: seen > number -> link[(place + 1) % N]!seen
		:: seen == number ->
			leaders++;
			assert(leaders == 1 && number == N)
		:: else
		fi
	od
}

init {
	byte numbers[N] = { 3, 1, 4, 2 };
	byte i;

	atomic {
		for (i in numbers) {
			run node(i, numbers[i])
		}
	}
}
