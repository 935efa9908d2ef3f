// Behind the first statement a declaration is an assignment, and can do no more than that. Only channels are made before.
active proctype p()
{
	skip;
	byte list[3] = { 1, 2, 3 };
	chan made = [1] of { byte };
	made!list[0]
}

// problem: 5:17 error: a list of initial values is possible only before the first statement; assign the elements one by one, or declare it at the beginning of the proctype
// problem: 6:14 warning: this channel is made when the process starts, and only once
