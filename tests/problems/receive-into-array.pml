chan c = [1] of { byte };
byte list[2];

active proctype p()
{
	c!list;
	c?list;
	c?_pid;
	c?_nr_pr
}

// problem: 6:4 warning: `list` is an array: without an index this is `list[0]`
// problem: 7:4 warning: `list` is an array: without an index this is `list[0]`
// problem: 8:4 warning: any number matches `_pid` here, and a receive changes `_pid` to it; to compare with the number of this process, write `eval(_pid)`
// problem: 9:4 error: `_nr_pr` cannot be received into; write `eval(_nr_pr)`
// problem: 9:2 warning: messages of `c` have 1 field, not 0; executing it is an error
