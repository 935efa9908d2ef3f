/* expect: never_0 holds
 *
 * When a claim reads the last state of a run again, the run has ended, and `np_` is false.
 */
byte x;

active proctype P() { progress: x = 1; x = 2; end: x == 3 }

never { do :: true :: x == 2 -> break od; np_; np_ }
