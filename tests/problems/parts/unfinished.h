byte x;

proctype helper()
{
	x = 1;
	if
	:: x == 1
