/* expect: safety holds
 *
 * A ticket lock, with the atomic fetch-and-add written as an inline.
 */
#define N 3

byte next_ticket, now_serving, inside;

inline fetch_and_add(variable, result)
{
	d_step {
		result = variable;
		variable = (variable + 1) % (N + 1)
	}
}

active [N] proctype client()
{
	byte ticket;

	do
	:: fetch_and_add(next_ticket, ticket);
	   now_serving == ticket;

	   inside++;
	   assert(inside == 1);
	   inside--;

	   now_serving = (now_serving + 1) % (N + 1)
	od
}
