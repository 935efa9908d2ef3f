/* expect: safety violated: invalid end state
   expect: stored 20, transitions 31, errors 2
   Clients that do not wait for the answer: the same steps as in forgetful.esml and forgetful.bir. */
chan ask = [0] of { byte };
chan answer = [0] of { byte };

active [2] proctype Client() {
    byte x;
    do
    :: true ->
        ask!_pid;
        x = (x + 1) % 3
    od
}

active proctype Server() {
    byte who;
    do
    :: true ->
        ask?who;
        answer!who
    od
}
