/* Macros, a claim, labels, and things that are wrong. */
#define full (count == 3)
byte count;
chan none;
active proctype filler() { do :: count < 3 -> count++ :: full -> progress: count = 0 od }
never overflow { do :: count > 3 -> break :: else od }
ltl again { [] (full -> <> (count == 0)) }
ltl idle { [] (count > 5 -> <> (count == 0)) }
ltl always { [] (full || !full) }
ltl never_ever { [] full && <> !full }
