chan c = [1] of { byte };
byte x;

active proctype p()
{
	!full(c);
	!empty(c) -> x = 1;
	(len(c) && nfull(c));
	x = c?[1];
	c?[x] && x == 1;
	x == 1 && c?1
}

// problem: 6:3 error: expected an expression other than a test of a channel, found `full`; a test of a channel cannot be negated; write `nfull(…)`
// problem: 7:3 error: expected an expression other than a test of a channel, found `empty`; a test of a channel cannot be negated; write `nempty(…)`
// problem: 11:13 error: expected `;` after this statement, found `?`; a receive is a statement of its own; a choice is `(condition -> yes : no)`
