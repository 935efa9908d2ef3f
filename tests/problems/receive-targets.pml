mtype = { go };
chan one = [1] of { byte };
chan two = [1] of { byte, byte };
byte x;

active proctype p()
{
	two?x,x;
	two?go,eval(_pid);
	one?go
}

// problem: 8:8 warning: this variable receives two fields of the same message, and keeps the last
