#ifndef N
#warning N should be given
#error how many processes? say -DN=3
#endif
byte x;

active proctype p() { x = 1 }

// problem: 2:1 warning: N should be given
// problem: 3:1 error: how many processes? say -DN=3
