/* To be written. */

// problem: error: the model has no process; declare one with `active proctype main() { … }` or `init { … }`
