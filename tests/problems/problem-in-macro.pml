// What comes out of a macro stands where the macro is used.
#define LIMIT 300
#define SET(variable, value) variable = value
byte x;

active proctype p()
{
	x = LIMIT;
	SET(x, 1);
	SET(y, 2);
	SET(x, LIMIT)
}

// problem: 8:6 warning: 300 does not fit into 8 bits: 44 is stored
// problem: 10:6 error: `y` is not declared
// problem: 11:9 warning: 300 does not fit into 8 bits: 44 is stored
