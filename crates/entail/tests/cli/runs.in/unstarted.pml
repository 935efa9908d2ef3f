/* The initial value cannot be had. */
byte none = 0;
byte some = 1 / none;
active proctype p() { some = 2 }
