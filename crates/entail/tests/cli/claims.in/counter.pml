#define limit 3
byte x;
active proctype counter() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
