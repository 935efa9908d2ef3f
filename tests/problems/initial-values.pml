typedef point { byte x; byte y }
byte scalar = { 1 };
byte channel = [2] of { byte };
point p = 3;
byte list[2] = { 1, 2, 3 };

proctype child() { skip }

active proctype main()
{
	pid c = run child();
	hidden byte h;
	scalar = channel + list[0] + p.x + c + h
}

// problem: 2:15 error: `scalar` is not an array
// problem: 3:16 error: `channel` is not a channel; declare it as `chan`
// problem: 4:11 warning: this value is ignored: a record has no initial value, only its fields have
// problem: 12:14 error: only a global variable can be `hidden`
// problem: 5:16 warning: 3 values for an array of 2
// problem: 11:10 error: `run` in an initial value
