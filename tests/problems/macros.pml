#define
#define 3 4
#define TWICE(a, a) a
#define OPEN(a, b
#define HASH(a) #b
#define GLUE ##
#define defined 1
#define N 3
#define N 4
#undef
#pragma whatever
#defin M 1
byte x;

active proctype p() { x = N }

// problem: 1:1 error: `#define` needs the name of a macro
// problem: 2:9 error: `3` cannot be the name of a macro
// problem: 3:18 error: the parameter `a` is named twice
// problem: 4:13 error: the parameter list of this macro is not closed; write `#define NAME(A, B) body`, all on one line
// problem: 5:17 error: `#` must precede a parameter of the macro
// problem: 6:14 error: `##` is not allowed at an end of a macro; it joins the tokens before and after it into one
// problem: 7:9 error: `defined` cannot be the name of a macro
// problem: 9:9 warning: the macro `N` is defined anew; if this is meant, write `#undef N` first
// problem: 10:1 error: `#undef` needs the name of a macro
// problem: 12:1 error: there is no directive `#defin`; did you mean `#define`?
