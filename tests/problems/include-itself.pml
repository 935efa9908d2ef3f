byte x;
#include "include-itself.pml"

active proctype p() { x = 1 }

// problem: 2:10 error: `include-itself.pml` includes itself without end: `include-itself.pml` → `include-itself.pml`; remove this line, or write `#pragma once` at the top of the file
