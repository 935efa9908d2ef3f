// What does not fit is cut, as in SPIN; nobody wants that.
byte small;
short s;
unsigned u : 3;
int i;
chan c = [1] of { byte };

active proctype p()
{
	small = -1;
	small = 256;
	s = 40000;
	u = 8;
	i = 2147483647;
	c!1000
}

// problem: 10:10 warning: -1 does not fit into 8 bits: 255 is stored
// problem: 11:10 warning: 256 does not fit into 8 bits: 0 is stored
// problem: 12:6 warning: 40000 does not fit into 16 bits: -25536 is stored
// problem: 13:6 warning: 8 does not fit into 3 bits: 0 is stored
// problem: 15:4 warning: 1000 does not fit into 8 bits: 232 is stored
