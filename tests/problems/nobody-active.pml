// A proctype alone starts nothing.
byte x;

proctype worker() { x++ }

// problem: error: no process is active: the model has no steps; write `active` before a proctype, or start processes from `init`
