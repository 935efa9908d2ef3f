typedef nothing { }
typedef node { byte value; node next }
typedef ok { byte x; }
typedef later { unknown u }

active proctype p() { skip }

// problem: 1:17 error: a type needs at least one field
// problem: 2:28 error: expected a field such as `int x`, found `node`; a type of one's own must be declared, by `typedef`, before it is used
// problem: 4:17 error: expected a field such as `int x`, found `unknown`; a type of one's own must be declared, by `typedef`, before it is used
