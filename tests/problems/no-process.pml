// Declarations, but nobody who does anything.
byte x;

// problem: error: the model has no process; declare one with `active proctype main() { … }` or `init { … }`
// problem: 2:6 warning: unused global variable `x`
