/* expect: never_0 violated: acceptance cycle
 *
 * After the end of a run, `np_` remains false.
 */
byte x;

active proctype P() { x = 1; x = 2; end: x == 3 }

never { do :: true :: x == 2 && !np_ -> break od; accept: do :: !np_ od }
