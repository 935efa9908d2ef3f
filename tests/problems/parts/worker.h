byte x, unused;

proctype worker()
{
	x = y;
	x = 256
}
