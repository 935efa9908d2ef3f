// What is wrong in an included file is shown there.
#include "parts/worker.h"

init { run worker(); x = 2; run wroker() }

// problem: parts/worker.h:5:6 error: `y` is not declared
// problem: parts/worker.h:6:6 warning: 256 does not fit into 8 bits: 0 is stored
// problem: 4:33 error: there is no proctype `wroker`; did you mean `worker`?
// problem: parts/worker.h:1:9 warning: unused global variable `unused`
