active proctype p() priority 0 { skip }
active proctype q() priority 256 { skip }
proctype r() { skip }
init { run r() priority 1000 }

// problem: 1:30 error: a priority must be a constant from 1 to 255
// problem: 2:30 error: a priority must be a constant from 1 to 255
// problem: 4:25 error: a priority must be a constant from 1 to 255
