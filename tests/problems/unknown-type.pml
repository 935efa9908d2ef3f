typedef point { byte x; byte y }
pont p;
byte first;
long c;
byte second;
boolean flag;
byte third;
proctpe q() { skip }

active proctype main() { first = second + third }

// problem: 2:1 error: expected a proctype, `init`, a declaration or another unit, found `pont`; did you mean `point`?
// problem: 4:1 error: expected a proctype, `init`, a declaration or another unit, found `long`; a type of one's own must be declared, by `typedef`, before it is used
// problem: 6:1 error: expected a proctype, `init`, a declaration or another unit, found `boolean`; did you mean `bool`?
// problem: 8:1 error: expected a proctype, `init`, a declaration or another unit, found `proctpe`; did you mean `proctype`?
