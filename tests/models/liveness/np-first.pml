/* expect: never_0 violated: claim end
 *
 * `np_` is as in any other state when a claim reads the last state of a run for the first time.
 */
byte x;

active proctype P() { progress: x = 1; x = 2 }

never { do :: x != 2 :: np_ && x == 2 -> break od }
