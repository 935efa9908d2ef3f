bool wants[2];
byte turn;

active [2] proctype user()
{
	wants[_pid] = true;
	trun = _pid;
	(!wants[1 - _pid] || turn == 1 - other)
}

// problem: 7:2 error: `trun` is not declared; did you mean `turn`?
// problem: 8:35 error: `other` is not declared
