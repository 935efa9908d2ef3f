// The size of an array must be known before the model runs.
byte none[0];
byte negative[-1];
byte huge[70000];
byte odd[2 / 0];
byte strange[unknown];

active proctype p()
{
	byte own[_pid];
	byte longer[len(c)];
	skip
}

// problem: 2:11 error: the size of an array must be 1 to 65535
// problem: 3:15 error: the size of an array must be 1 to 65535
// problem: 4:11 error: the size of an array must be 1 to 65535
// problem: 5:10 error: the size of an array must be a constant
// problem: 6:14 error: the size of an array must be a constant
// problem: 10:11 error: the size of an array must be a constant
// problem: 11:14 error: the size of an array must be a constant
