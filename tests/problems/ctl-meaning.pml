// Formulas of branching time that can be read, and mean nothing.
byte x, A;

active proctype p() { x = 1 }

ctl fine { AG (x < 2 && A == 0) }
ctl unquantified { AG (x == 0 -> <> (x == 1)) }
ctl nothing { A (x == 1) }
ctl tight { AG x == 1 }
ctl unknown { EF (y == 1) && AG p@done }
ctl { EF p:z }

// problem: 7:34 error: in CTL `<>` needs a quantifier of its own
// problem: 8:15 error: `A` quantifies over runs, and needs a temporal operator of its own
// problem: 9:13 error: a formula is not a number
// problem: 10:19 error: `y` is not declared
// problem: 10:35 error: proctype `p` has no label `done`
// problem: 11:12 error: proctype `p` has no variable `z`
