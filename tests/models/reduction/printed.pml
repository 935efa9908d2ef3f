/* expect: safety holds
 * expect: reduced 9
 *
 * What is printed changes nothing: it does not matter what the writer has written.
 */
byte x;

active proctype writer() { x = 1; x = 2; x = 3 }
active proctype reader() { do :: x == 3 -> break :: printf("%d\n", x) od }
active proctype other() { printf("%d\n", x); printf("%d\n", x + 1) }
