typedef message { byte kind; byte value }
chan unknown;

active proctype p()
{
	message m;
	for (m in unknown) { unknown?m }
}

// problem: 7:12 error: a record can only walk through an initialised channel
// problem: 7:12 error: expected the name of an array or an initialised channel
// problem: 7:7 error: this is a record; name one of its fields
// problem: 7:7 error: this is a record; name one of its fields
// problem: 7:7 error: this is a record; name one of its fields
