#include "parts/unfinished.h"

active proctype p() { x = 1 }

// problem: 3:1 error: expected `fi`, found `active`
// problem: 3:1 error: expected `}`, found `active`
