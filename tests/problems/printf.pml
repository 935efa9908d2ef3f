byte x;

active proctype p()
{
	printf(x);
	printf("%d %d\n", x);
	printf("%d\n", y);
	printm(nothing);
	assert()
}

// problem: 5:9 error: expected a string, found `x`
// problem: 9:9 error: expected an expression, found `)`
