byte x;

active proctype p()
{
start:	x++;
	goto strat;
	goto elsewhere
}

active proctype q()
{
	{ x++; inner: x-- };
	goto inner
}

active proctype r() { x++ }

// problem: 6:7 error: there is no label `strat`; did you mean `start`?
// problem: 7:7 error: there is no label `elsewhere`
