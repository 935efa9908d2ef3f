// Properties are asked for by name; what SPIN does not know must have a name of its own.
byte x;

active proctype p() { x = 1 }

ctl fine { AG (x < 2) }
ctl fine { EF (x == 1) }
ltl same { <> x }
ltl same { <> x }
ctl same { AF x }

// problem: 7:5 error: the property `fine` is declared twice
// problem: 10:5 error: the property `same` is declared twice
