mtype = { go };
typedef record { byte f; byte g }
chan one = [1] of { byte };
chan two = [1] of { byte, byte };
chan three = [1] of { byte, byte, byte };
byte x, y, list[2];
record r;

active proctype p()
{
	byte l;
	two?x,x;
	two??l,l;
	two?<x,x>;
	two?x(x);
	two?x[0],x;
	three?x,2,x;
	two?_pid,_pid;
	atomic { skip; two?x,x };
	if
	:: two?[x,x] -> two?_,_
	:: two?eval(x),x
	fi;
	two?x,y;
	two?list[0],list[0];
	two?list[0],list[1];
	two?r.f,r.f;
	two?r.f,r.g;
	d_step { skip; two?l,l };
	d_step { two?<x,x>; if :: two??x,x fi };
	two?go,eval(_pid);
	one?go
}

// problem: 12:8 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 13:9 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 14:9 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 15:8 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 16:11 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 17:12 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 18:6 warning: any number matches `_pid` here
// problem: 18:11 warning: any number matches `_pid` here
// problem: 18:11 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 19:23 error: this variable receives two fields of the same message; write `_` for the field that is not needed
// problem: 25:14 warning: this variable receives two fields of the same message, and keeps the last
// problem: 27:10 warning: this variable receives two fields of the same message, and keeps the last
// problem: 29:23 warning: this variable receives two fields of the same message, and keeps the last
// problem: 30:18 warning: this variable receives two fields of the same message, and keeps the last
// problem: 30:35 warning: this variable receives two fields of the same message, and keeps the last
