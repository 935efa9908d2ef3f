byte x;

active proctype p() { x = 1 }
/* and here it goes on

// problem: 4:1 error: this comment is not closed
