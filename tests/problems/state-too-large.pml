int first[10000];
int second[10000];
typedef row { short cells[300] }
row table[300];
chan wide = [60000] of { int };

active proctype p()
{
	first[0] = second[0]; table[0].cells[0] = 1; wide!1
}

// problem: 2:5 error: `second` makes the state larger than 65536 bytes
// problem: 4:5 error: `table` makes the state larger than 65536 bytes
// problem: 5:13 error: the channel would take more than 65536 bytes
