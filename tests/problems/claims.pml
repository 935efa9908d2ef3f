// Claims and formulas are checked for form, though not verified yet.
byte x;

never {
	do
	:: x == 1 -> break
}

active proctype p() { x = 1 }

ltl bad { [] (x < }

// problem: 7:1 error: expected `od`, found `}`
// problem: 11:19 error: expected an expression, found `}`
