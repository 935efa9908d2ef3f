unsigned none;
unsigned zero : 0;
unsigned wide : 32;
unsigned fine : 5;
byte not_for_bytes : 3;

active proctype p() { fine = 31; fine = 32; not_for_bytes = 1 }

// problem: 1:10 error: an unsigned needs a width; write `unsigned x : 5`
// problem: 2:17 error: the width of an unsigned must be 1 to 31
// problem: 3:17 error: the width of an unsigned must be 1 to 31
// problem: 5:22 error: only `unsigned` variables have a width
// problem: 7:41 warning: 32 does not fit into 5 bits: 0 is stored
