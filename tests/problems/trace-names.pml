mtype = { data };
chan c = [2] of { byte };
chan both = [2] of { mtype, byte };
chan many[2] = [2] of { byte };
byte x;

active proctype p()
{
	chan mine = [2] of { byte };
	byte here;
	mine!1;
	c!x;
	both!data,1;
	many[0]!here
}

notrace {
	channel!1;
	mine!1;
	x!1;
	many!1;
	c!y;
	c?here;
	c?eval(z);
	c!1,2;
	both!data;
	both?data,1,2;
	goto nowhere
}

// problem: 28:7 error: there is no label `nowhere`
// problem: 18:2 error: `channel` is not declared
// problem: 19:2 error: `mine` is not declared; did you mean `many`?
// problem: 20:2 error: this is not a channel
// problem: 21:2 warning: `many` is an array: without an index this is `many[0]`
// problem: 22:4 error: `y` is not declared
// problem: 23:4 error: `here` is not declared
// problem: 24:9 error: `z` is not declared
// problem: 25:2 error: messages of `c` have 1 field, not 2
// problem: 26:2 error: messages of `both` have 2 fields, not 1
// problem: 27:2 error: messages of `both` have 2 fields, not 3
