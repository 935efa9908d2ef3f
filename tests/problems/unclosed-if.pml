#define DEBUG
byte x;

#ifdef DEBUG
active proctype p() { x = 1 }

// problem: 4:1 error: this `#if` is not closed; close it with `#endif` in the same file
