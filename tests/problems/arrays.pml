byte list[4];
byte scalar;

active proctype p()
{
	list = 1;
	scalar[2] = 1;
	list[4] = 1;
	list[-1] = list[scalar];
	scalar = list
}

// problem: 6:2 warning: `list` is an array: without an index this is `list[0]`
// problem: 7:2 error: `scalar` is not an array
// problem: 8:7 warning: index out of range: `list` has 4 elements
// problem: 9:7 warning: index out of range: `list` has 4 elements
// problem: 10:11 warning: `list` is an array: without an index this is `list[0]`
