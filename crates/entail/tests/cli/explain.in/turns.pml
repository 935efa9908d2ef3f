/* Only one of these has to do with the mistake. */
byte x, y;

active proctype busy() { do :: y < 9 -> y++ :: else -> break od }
active proctype wrong() { x = 1; x = 2; assert(x == 1) }
active proctype other() { do :: y < 9 -> y++ :: else -> break od }
