byte x;
#include "second.h"
