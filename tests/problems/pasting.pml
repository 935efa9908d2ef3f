#define GLUE(a, b) a ## b
byte x;

active proctype p() { x = GLUE(1, +); GLUE(x, y) = 1 }

// problem: 4:27 error: `1` and `+` do not make one token; look for `##` in the macro
// problem: 4:37 error: expected an expression, found `;`
