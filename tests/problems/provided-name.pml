byte turn;

active proctype p() provided (trun == 1) { turn = 1 }

// problem: 3:31 error: `trun` is not declared; did you mean `turn`?
