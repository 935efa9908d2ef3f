#include "parts/missing.h"
#include <nowhere.h>
#include "parts"
#include
#include missing.h

active proctype p() { skip }

// problem: 1:10 error: cannot read `parts/missing.h`: no such file; looked in 
// problem: 2:10 error: cannot read `nowhere.h`: no such file; looked in 
// problem: 3:10 error: cannot read `parts`: it is a directory; looked in 
// problem: 4:1 error: `#include` needs the name of a file; write `#include "file"` or `#include <file>`
// problem: 5:1 error: `#include` needs the name of a file; write `#include "file"` or `#include <file>`
