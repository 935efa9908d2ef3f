active proctype p() { do :: d_step { printf("x"); printf("y\n") } od }
