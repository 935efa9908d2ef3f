/* expect: trace violated: unexpected event
 *
 * It is the channel that is watched, whatever the variable is called that leads there.
 */
chan c = [1] of { byte };

proctype p(chan d) { d!5 }

init { run p(c) }

trace { c!4 }
