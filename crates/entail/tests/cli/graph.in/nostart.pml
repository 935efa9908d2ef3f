byte zero;
byte x = 1 / zero;

active proctype main() { x == 0 }
