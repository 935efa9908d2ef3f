int x;

active proctype p()
{
	x += 1;
	while (x < 3) { x++ }
	if (x == 1) { x = 2 } else { x = 3 }
	if
	:: x = 1 -> skip
	:: !!x
	fi;
	switch (x) { x = 1 }
	x = 0x10;
	for (x = 0; x < 3; x++) { skip }
}

// problem: 5:5 error: expected an expression, found `=`; there is no `+=` in Promela; write `x = x + …`
// problem: 6:8 error: expected `;` after this statement, found `(`; Promela has no `while`; write `do :: condition -> … :: else -> break od`
// problem: 7:5 error: expected `::` after `if`, found `(`; write `if :: condition -> … :: else -> … fi`
// problem: 10:5 error: expected a statement, found `!!`; `!!` is the sorted send; for a double negation write `! !`
// problem: 12:9 error: expected `;` after this statement, found `(`; Promela has no `switch`; write `if :: x == 1 -> … :: else -> … fi`
// problem: 13:7 error: expected `;` after this statement, found `x10`; numbers are decimal
// problem: 14:9 error: expected `:` or `in`, found `=`; a loop is `for (x : 1 .. 9) { … }` or `for (x in array) { … }`
