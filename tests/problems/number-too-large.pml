int x;
unsigned enormous : 99999999999;

active proctype p()
{
	x = 4294967296;
	x = 99999999999999999999
}

// problem: 2:21 error: `99999999999` is not a number of 32 bits
// problem: 6:6 error: `4294967296` is not a number of 32 bits
// problem: 7:6 error: `99999999999999999999` is not a number of 32 bits
