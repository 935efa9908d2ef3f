/* expect: safety holds
   expect: stored 378, transitions 793, errors 0
   Two clients and a server: the same steps as in handshake.esml and handshake.bir. */
chan ask = [0] of { byte };
chan answer = [0] of { byte };

active [2] proctype Client() {
    byte x;
    do
    :: true ->
        ask!_pid;
        answer?eval(_pid);
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
