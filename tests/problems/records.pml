typedef point { byte x; byte y }
typedef line { point ends[2]; byte width }
line l;
byte scalar;

active proctype p()
{
	l = 1;
	l.z = 1;
	l.ends.x = 1;
	l.ends[0].xx = 1;
	l.width.x = 1;
	scalar.x = 1;
	l.ends[2].x = 1;
	scalar = l.ends[0] + l.width
}

// problem: 8:2 error: this is a record; name one of its fields
// problem: 9:4 error: type `line` has no field `z`
// problem: 10:4 warning: `ends` is an array: without an index this is `ends[0]`
// problem: 11:12 error: type `point` has no field `xx`
// problem: 12:10 error: not a record: there is no field `x`
// problem: 13:9 error: not a record: there is no field `x`
// problem: 14:9 warning: index out of range: `ends` has 2 elements
// problem: 15:11 error: this is a record; name one of its fields
