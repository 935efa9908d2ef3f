/* expect: always holds
 *
 * A process that waits for a timeout is enabled where nothing else can move. SPIN's verifier lets the claim look at such a state
 * twice, first as if there were no timeout, and reports what it sees then.
 */
active proctype P() { do :: timeout od }

ltl always { [] enabled(0) }
