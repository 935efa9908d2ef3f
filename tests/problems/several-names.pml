// Names, labels and arities are checked together, in all processes.
mtype = { ping, pong };
chan c = [1] of { mtype };
byte counter;

active proctype left()
{
	c!png;
	c?pong;
	counter = countr
}

active proctype right()
{
	c?ping;
	c!pong,1;
	assert(conter == 1);
	run lefft()
}

active proctype third()
{
	counter = 0;
	goto finish
}

// problem: 8:4 error: `png` is not declared; did you mean `ping`?
// problem: 10:12 error: `countr` is not declared; did you mean `counter`?
// problem: 16:2 error: messages of `c` have 1 field, not 2
// problem: 17:9 error: `conter` is not declared; did you mean `counter`?
// problem: 18:6 error: there is no proctype `lefft`; did you mean `left`?
// problem: 24:7 error: there is no label `finish`
