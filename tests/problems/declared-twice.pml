byte x;
typedef point { byte x; byte y; bit x }
typedef point { byte z }
mtype = { red, green };
mtype = { green };
byte red;
byte x;
mtype = { x };

active proctype p()
{
	byte a;
	byte x, a;
	{ byte a; a = x }
}

proctype p() { skip }
init { skip }
init { skip }

// problem: 2:37 error: field `x` is declared twice
// problem: 3:9 error: type `point` is declared twice
// problem: 5:11 error: `green` is already declared
// problem: 6:6 error: `red` is already the name of an mtype value
// problem: 7:6 error: `x` is declared twice; a name that is visible cannot be declared again, not even in an inner block
// problem: 8:11 error: `x` is already declared
// problem: 13:7 error: `x` is declared twice; a name that is visible cannot be declared again, not even in an inner block
// problem: 13:10 error: `a` is declared twice; a name that is visible cannot be declared again, not even in an inner block
// problem: 14:9 error: `a` is declared twice; a name that is visible cannot be declared again, not even in an inner block
// problem: 17:10 error: `p` is declared twice
// problem: 19:1 warning: another `init`: each is a process of its own
