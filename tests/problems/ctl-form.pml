// After a mistake in a formula, the others are read all the same.
byte x;

active proctype p() { x = 1 }

ctl none { }
ctl open { AG (x < }
ctl half { A(x U) }
ctl two { AG x EF x }
byte ctl;
ctl = 1

// problem: 6:12 error: expected an expression, found `}`
// problem: 7:20 error: expected an expression, found `}`
// problem: 8:17 error: expected an expression, found `)`
// problem: 9:16 error: expected `}`, found `EF`
// problem: 11:1 error: expected a proctype, `init`, a declaration or another unit, found `ctl`; a CTL formula is written `ctl name { … }`
