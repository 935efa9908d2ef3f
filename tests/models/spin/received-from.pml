/* expect: safety holds
 *
 * The receive takes its message from `c[0]`. SPIN's verifier evaluates the index again when `g` has been stored, and removes
 * a message of `c[1]`.
 */
chan c[2] = [1] of { byte, byte };
byte g;

active proctype P()
{
	c[0]!1,7;
	c[g]?g,_;
	assert(len(c[0]) == 0 && len(c[1]) == 0)
}
