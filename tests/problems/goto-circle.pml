active proctype p()
{
	skip;
here:	goto there;
there:	goto here
}

// problem: 4:7 error: these jumps form a cycle without a statement
// problem: 5:8 error: these jumps form a cycle without a statement
// problem: 4:7 error: these jumps form a cycle without a statement
