/* expect: stored 471042, transitions 932277, errors 0
 *
 * A wide system: nodes in a ring work on a shared store and keep journals, and all of their data is in the state.
 *
 * A token goes round the ring once. The node that gets it works over its page of the store, hands the token on, and
 * only then brings its own journal up to date. Nobody hands the token on before its predecessor has reported that its
 * journal is complete. So at most two nodes work at any time, in every possible interleaving, while the pages and
 * journals of all others wait in the state: it is wide, but the number of states is only linear in `NODES`.
 *
 * Each process has some 200 locations. The statements are spelled out by macros, because a loop would have few
 * locations, and because long straight code is what generated models look like.
 */
#ifndef NODES
#define NODES 50
#endif
#define CELLS 16

#define EACH(operation) \
	operation(0);  operation(1);  operation(2);  operation(3);  operation(4);  operation(5); \
	operation(6);  operation(7);  operation(8);  operation(9);  operation(10); operation(11); \
	operation(12); operation(13); operation(14); operation(15)

/* Three statements each; most of them touch the shared store, so that SPIN merges few when it optimises. */
#define STIR(i)   page[base + i] = (page[base + i] * 5 + sum + i) % 251; \
                  sum = (sum + 7 * i) % 251; \
                  sum = sum ^ page[base + i]
#define SPREAD(i) page[base + i] = page[base + i] ^ page[base + (i + 1) % CELLS]; \
                  sum = (sum + 3) % 251; \
                  page[base + i] = (page[base + i] + sum) % 251
#define RECORD(i) journal[i] = page[base + i]; \
                  digest = (digest + i) % 251; \
                  digest = digest ^ page[base + i]
#define SEAL(i)   journal[i] = journal[i] ^ digest; \
                  digest = (digest * 3 + page[base + i]) % 251; \
                  assert(page[base + i] < 251)

mtype = { token, complete };

/* To each node, and last to the supervisor: the kind of message, who sends it, and the sum over all pages so far. */
chan ring[NODES + 1] = [2] of { mtype, byte, byte };
chan reports[NODES + 1] = [2] of { mtype, byte };

byte page[NODES * CELLS];

active [NODES] proctype node()
{
	byte journal[CELLS];
	byte from, sum, digest;
	short base = _pid * CELLS;

	/* The first step waits: a free one would be interleaved with those of all other nodes. */
end_idle:
	ring[_pid]?token(from, sum);
	EACH(STIR);
	EACH(SPREAD);
	reports[_pid]?complete(eval(from));
	ring[_pid + 1]!token(_pid, sum);
	EACH(RECORD);
	EACH(SEAL);
	reports[_pid + 1]!complete(_pid);
	goto end_idle
}

active proctype supervisor()
{
	byte from, sum;

	ring[0]!token(_pid, 1);
	reports[0]!complete(_pid);
	ring[NODES]?token(from, sum);
	reports[NODES]?complete(eval(from));
	assert(from == NODES - 1)
}
