byte do;
byte len;
proctype if() { skip }

active proctype atomic() { byte of; skip }

// problem: 1:6 error: expected the name of a variable, but `do` is a keyword
// problem: 2:6 error: expected the name of a variable, but `len` is a keyword
// problem: 3:10 error: expected the proctype's name, but `if` is a keyword
// problem: 5:17 error: expected the proctype's name, but `atomic` is a keyword
