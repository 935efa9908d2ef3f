byte x;

active proctype p() provided { x = 1 }

// problem: 3:30 error: expected `(`, found `{`
