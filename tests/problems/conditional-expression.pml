byte x;

active proctype p()
{
	x = (x > 1 ? 2 : 3);
	x = (x > 1 -> 2);
	x = x > 1 -> 2 : 3
}

// problem: 5:13 error: expected `)`, found `?`; a receive is a statement of its own; a choice is `(condition -> yes : no)`
// problem: 6:17 error: expected `:`, found `)`; a conditional expression is `(condition -> yes : no)`
// problem: 7:17 error: expected `;` after this statement, found `:`
