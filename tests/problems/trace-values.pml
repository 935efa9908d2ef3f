// Only constants are compared.
chan c = [1] of { int };
int x;

active proctype p() { c!1; c?x }

trace {
	c!-1;
	c?-1;
	c!x;
	c!x + 1;
	c!_
}

// problem: 8:4 warning: this fits every value: only constants are compared; write `_`, or the number itself
// problem: 11:4 warning: this fits every value: only constants are compared
