bool wants[2];

active [2] proctype user()
{
	wants[pid] = true;
	wants[1 - pid] = false
}

// problem: 5:8 error: expected an expression, found `pid`; `pid` is a type; the number of the process itself is `_pid`
// problem: 6:12 error: expected an expression, found `pid`; `pid` is a type; the number of the process itself is `_pid`
