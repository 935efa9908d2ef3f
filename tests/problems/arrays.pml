typedef record { byte v[3]; byte w }
byte list[4];
byte scalar;
record r[2];
chan q[2] = [1] of { byte };

proctype child(byte n) { scalar = n }

inline first(array) { array[0] = 1 }

active proctype p()
{
	byte mine[2];
	list = 1;
	scalar[2] = 1;
	list[4] = 1;
	list[-1] = list[scalar];
	scalar = list;
	mine++;
	list[list] = mine[1];
	if
	:: list > 5 -> run child(mine)
	fi;
	q!scalar;
	q[0]?mine;
	q[0]!list;
	q[0]?eval(list);
	assert(q?[1] || len(q) == 1 || empty(q[1]));
	r.w = 1;
	r[1].v = r[0].v[2];
	printf("%d", list);
	first(list);
	for (scalar in list) { skip }
}

active proctype other()
{
	scalar = p:mine + p:mine[1]
}

ltl never_set { [] (list == 0) }

// problem: 14:2 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 15:2 error: `scalar` is not an array
// problem: 16:7 warning: index out of range: `list` has 4 elements
// problem: 17:7 warning: index out of range: `list` has 4 elements
// problem: 18:11 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 19:2 error: `mine` is an array: an index is missing; write `mine[0]` for its first element
// problem: 20:7 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 22:5 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 22:27 error: `mine` is an array: an index is missing; write `mine[0]` for its first element
// problem: 24:2 error: `q` is an array: an index is missing; write `q[0]` for its first element
// problem: 25:7 error: `mine` is an array: an index is missing; write `mine[0]` for its first element
// problem: 26:7 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 27:12 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 28:9 error: `q` is an array: an index is missing; write `q[0]` for its first element
// problem: 28:22 error: `q` is an array: an index is missing; write `q[0]` for its first element
// problem: 29:2 error: `r` is an array: an index is missing; write `r[0]` for its first element
// problem: 30:7 error: `v` is an array: an index is missing; write `v[0]` for its first element
// problem: 31:15 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 38:13 error: `mine` is an array: an index is missing; write `mine[0]` for its first element
// problem: 41:21 error: `list` is an array: an index is missing; write `list[0]` for its first element
