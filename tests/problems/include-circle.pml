#include "parts/first.h"

active proctype p() { x = 1 }

// problem: parts/first.h:2:10 error: `parts/second.h` includes itself without end: `parts/second.h` → `parts/first.h` → `parts/second.h`; remove this line, or write `#pragma once` at the top of the file
