active proctype p()
{
	printf("hello);
	skip
}

// problem: 3:9 error: this string is not closed on its line; close it with `"`
// problem: 4:2 error: expected `)`, found `skip`
