typedef record { chan c }
byte number;
chan many[2] = [1] of { byte };
record r;

active proctype p()
{
	number!1;
	number?number;
	many!1;
	r!1;
	len(number) > 0;
	nfull(many);
	unknown?number
}

// problem: 8:2 error: this is not a channel
// problem: 9:2 error: this is not a channel
// problem: 10:2 warning: `many` is an array: without an index this is `many[0]`
// problem: 11:2 error: this is a record, not a channel
// problem: 12:6 error: this is not a channel
// problem: 13:8 warning: `many` is an array: without an index this is `many[0]`
// problem: 14:2 error: `unknown` is not declared
