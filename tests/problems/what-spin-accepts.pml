typedef point { byte x; byte y }
point p[2] = { 1, 2 };
point q = p;
point r = unknown;
byte n; */

active proctype main()
{
	if
	:: n == 0 --> p[0].x = n
	fi;
	/* n = 1 /* n = 2 */ */
	q.x = r.x
}

init { skip }
init { skip }

// problem: 5:9 warning: `*/` without a comment is ignored; comments do not nest: the first `*/` closes them
// problem: 10:12 warning: `-->` is read as `->`
// problem: 12:23 warning: `*/` without a comment is ignored; comments do not nest: the first `*/` closes them
// problem: 2:14 warning: this value is ignored: a record has no initial value, only its fields have
// problem: 3:11 warning: this value is ignored: a record has no initial value, only its fields have
// problem: 4:11 warning: this value is ignored: a record has no initial value, only its fields have
// problem: 17:1 warning: another `init`: each is a process of its own
// problem: 3:11 warning: `p` is an array: without an index this is `p[0]`
// problem: 3:11 error: this is a record; name one of its fields
// problem: 4:11 error: `unknown` is not declared
