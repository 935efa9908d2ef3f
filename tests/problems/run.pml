proctype worker(byte a, b) { a = b }

active proctype main()
{
	byte x;
	run worker(1);
	run worker(1, 2, 3);
	run wroker(1, 2);
	run nobody();
	x = run worker(1, 2) + run worker(3, 4);
	(run worker(1, 2) > 0)
}

// problem: 6:2 error: `worker` takes 2 arguments, not 1
// problem: 7:2 error: `worker` takes 2 arguments, not 3
// problem: 8:6 error: there is no proctype `wroker`; did you mean `worker`?
// problem: 9:6 error: there is no proctype `nobody`
// problem: 10:25 error: only one `run` in a statement
// problem: 11:2 error: `run` inside a larger condition; assign its result to a variable first
