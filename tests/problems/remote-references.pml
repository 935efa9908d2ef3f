typedef point { byte x }

proctype server()
{
	byte load;
	byte list[2];
	point at;
ready:	load = list[0] + at.x
}

active proctype client()
{
	byte x;
	run server();
	server@raedy;
	server[1]@ready;
	srever@ready;
	x = server:load;
	x = server[1]:laod;
	x = server:list;
	x = server:at
}

// problem: 15:9 error: proctype `server` has no label `raedy`; did you mean `ready`?
// problem: 17:2 error: there is no proctype `srever`; did you mean `server`?
// problem: 19:16 error: proctype `server` has no variable `laod`
// problem: 20:13 warning: `list` is an array: without an index this is `list[0]`
// problem: 21:13 error: only scalars and array elements of another process can be read
