/* expect: stored 91, transitions 170, errors 0
 *
 * Each `init` is a process.
 */
byte x;

init { x = 1; assert(_pid == 0); run p() }

proctype p() { x++ }

active proctype q() { assert(_pid == 1) }

init { x = 2; assert(_pid == 2) }
