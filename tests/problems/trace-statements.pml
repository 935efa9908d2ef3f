// A trace says what is sent and received, and nothing else.
chan c = [2] of { byte };
byte x;

inline one() { c!1 }

active proctype p() { c!1; c?x }

trace {
	byte y;
	x = 1;
	x == 1;
	assert(x);
	skip;
	c!!1;
	c??1;
	c?<1>;
	atomic { c!1; c!1 };
	one();
	if
	:: c!1; x++
	:: else
	fi;
	label:
	printf("here");
	for (x : 1 .. 2) { c!1 };
	c!y;
	last:
}

// problem: 10:2 error: a trace has no variables of its own
// problem: 11:2 error: this is not an event; a trace is made of sends, receives, `if`, `do`, `break`, `goto` and labels
// problem: 12:2 error: this is not an event; a trace is made of
// problem: 13:2 error: this is not an event; a trace is made of
// problem: 14:2 error: this is not an event; a trace is made of
// problem: 15:2 error: this is not an event; write `!`, which `!!` fits too
// problem: 16:2 error: this is not an event; write `?`, which `??` fits too
// problem: 17:2 error: this is not an event; a message that stays in its channel is not received
// problem: 18:2 error: this is not an event; a trace is made of
// problem: 19:2 error: this is not an event; a trace is made of
// problem: 21:10 error: this is not an event; a trace is made of
// problem: 22:5 error: this is not an event; a trace is made of
// problem: 25:2 error: this is not an event; a trace is made of
// problem: 26:2 error: this is not an event; a trace is made of
