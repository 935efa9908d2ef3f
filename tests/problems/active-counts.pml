active [256] proctype p() { skip }
active [len(c)] proctype q() { skip }
active proctype r() { skip }

// problem: 1:9 error: the number of processes must be 0 to 255
// problem: 2:9 error: the number of processes must be a constant
