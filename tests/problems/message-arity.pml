mtype = { data };
chan one = [1] of { byte };
chan two = [2] of { mtype, byte };
byte x, y, z;

active proctype sender()
{
	one!1,2;
	two!data,1,2;
	two!data;
	two!data(1, 2)
}

active proctype receiver()
{
	one?x,y;
	two?data,x,y;
	two?data;
	two?[data,x,y];
	two?<data>;
	z = 1
}

// problem: 8:2 error: messages of `one` have 1 field, not 2
// problem: 9:2 error: messages of `two` have 2 fields, not 3
// problem: 10:2 warning: messages of `two` have 2 fields, not 1; executing it is an error
// problem: 11:2 error: messages of `two` have 2 fields, not 3
// problem: 16:2 warning: messages of `one` have 1 field, not 2; executing it is an error
// problem: 17:2 warning: messages of `two` have 2 fields, not 3; executing it is an error
// problem: 18:2 warning: messages of `two` have 2 fields, not 1; executing it is an error
// problem: 19:2 warning: messages of `two` have 2 fields, not 3; the missing fields count as 0
// problem: 20:2 warning: messages of `two` have 2 fields, not 1; the other fields may have any value
