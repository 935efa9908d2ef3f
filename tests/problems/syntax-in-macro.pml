#define TWICE(a) a; a
#define BROKEN x = = 1
byte x;

active proctype p()
{
	BROKEN;
	TWICE(x + );
	TWICE(x++, 2);
	TWICE(x++
}

// problem: 9:2 error: the macro `TWICE` takes 1 argument, but gets 2
// problem: 10:2 error: the arguments of the macro `TWICE` do not end
// problem: 7:2 error: expected an expression, found `=`; to compare, write `==`; an assignment is a statement of its own
// problem: 8:2 error: expected an expression, found `;`
// problem: 8:13 error: expected an expression, found `;`
// problem: 10:2 error: expected `}`, found the end of the file
