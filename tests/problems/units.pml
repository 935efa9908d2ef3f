byte x;
x = 1;
proctype p { x = 1 }
active init { x = 1 }
init { x = 2 }

// problem: 2:1 error: expected a proctype, `init`, a declaration or another unit, found `x`
// problem: 3:12 error: expected `(`, found `{`
// problem: 4:8 error: expected `proctype`, found `init`
