chan c = [1] of { byte };
byte list[2];

active proctype p()
{
	c!list;
	c?list;
	c?_pid
}

// problem: 6:4 error: `list` is an array: an index is missing; write `list[0]` for its first element
// problem: 7:4 error: a whole array cannot be used here; name an element
// problem: 7:2 warning: messages of `c` have 1 field, not 0; it will be an error when it is executed
// problem: 8:4 error: `_pid` cannot be received into; write `eval(_pid)`
// problem: 8:2 warning: messages of `c` have 1 field, not 0; it will be an error when it is executed
