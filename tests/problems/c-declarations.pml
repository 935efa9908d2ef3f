int x == 3;
int grid[3][4];
int a, int b;
long c;
float d = 1.5;

active proctype p() { x = 1 }

// problem: 1:7 error: expected `=`, found `==`; to give a value, write `=`
// problem: 2:12 error: expected the end of this declaration, found `[`; arrays have one dimension; for more, make a `typedef` with an array in it
// problem: 3:8 error: expected the name of a variable, found `int`; declarations of different types are separated by `;`, not `,`
// problem: 4:1 error: expected a proctype, `init`, a declaration or another unit, found `long`; a type of one's own must be declared, by `typedef`, before it is used
