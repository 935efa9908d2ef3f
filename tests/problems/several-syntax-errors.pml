// One mistake does not hide the others.
mtype = { ping, pong };
chan c = [1] of { mtype };
byte counter;

active proctype left()
{
	c!;
	c?pong;
	counter =+ 1;
	goto 3
}

active proctype right()
{
	if
	:: counter == 1 -> c!ping
	:: else -> counter +
	fi;
	assert(counter = 1)
}

typedef point { byte x byte y }

// problem: 8:4 error: expected an expression, found `;`
// problem: 10:11 error: expected an expression, found `+`
// problem: 11:7 error: expected a label, found `3`
// problem: 19:2 error: expected an expression, found `fi`
// problem: 20:17 error: expected `)`, found `=`; to compare, write `==`; an assignment is a statement of its own
// problem: 23:24 error: expected `;` or `}` after this field, found `byte`
