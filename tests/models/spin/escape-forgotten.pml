/* expect: safety holds
 * expect: stored 3, transitions 3, errors 0
 *
 * Nobody receives, so that the outer escape cannot be taken; the inner one can. SPIN's verifier forgets that after the attempt
 * to send, and reports the assertion.
 */
chan r = [0] of { byte };

active proctype P()
{
L:	{ { assert(false) } unless { skip } } unless { r!1 }
}
