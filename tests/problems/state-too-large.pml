int first[60000];
int second[60000];
int third[60000];
typedef row { int cells[600] }
row table[600];
chan wide = [60000] of { int, int, int };

active proctype p()
{
	first[0] = second[0]; third[0] = table[0].cells[0]; wide!1,1,1
}

// problem: 3:5 error: `third` makes the state larger than 512000 bytes
// problem: 5:5 error: `table` makes the state larger than 512000 bytes
// problem: 6:13 error: the channel would take more than 512000 bytes
