// What is wrong in an inline is shown where it is written; what is wrong with an argument, where that is written.
byte x;

inline set(target, value)
{
	target = value;
	undeclared = value
}

active proctype p()
{
	set(y, x)
}

// problem: 12:6 error: `y` is not declared
// problem: 7:2 error: `undeclared` is not declared
