#if
#endif
#if 1 +
#endif
#if 1 / 0
#endif
#if (1
#endif
#if 1 = 1
#endif
#if defined
#endif
#if 1.5
#endif
#else
#endif
#elif 1
#ifdef N
#else
#else
#endif more
byte x;

active proctype p() { x = 1 }

// problem: 1:1 error: `#if` without a condition; write `#if 1` or `#ifdef NAME`
// problem: 3:7 error: the condition ends too early
// problem: 5:7 error: division by zero in a condition
// problem: 7:6 error: expected `)` after this
// problem: 9:7 error: `=` is not allowed here in a condition; to compare, write `==`
// problem: 11:5 error: `defined` needs the name of a macro; write `defined NAME` or `defined(NAME)`
// problem: 13:5 error: `1.5` is not an integer; conditions of `#if` compute with 64-bit integers
// problem: 15:1 error: `#else` without `#if`
// problem: 16:1 error: `#endif` without `#if`
// problem: 17:1 error: `#elif` without `#if`
// problem: 20:1 error: `#else` after `#else`
// problem: 21:8 warning: the rest of this `#endif` line is ignored; to write text here, make it a comment: `/* … */`
