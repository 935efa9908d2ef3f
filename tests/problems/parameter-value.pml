proctype worker(byte a = 1) { skip }
init { run worker(1) }

// problem: 1:22 error: a parameter cannot have an initial value
