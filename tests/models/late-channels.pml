/* expect: stored 12, transitions 12, errors 0
 *
 * A channel that is declared behind the first statement is made when the process starts; its declaration is no step.
 */
byte x;

active proctype p()
{
	do
	:: x < 2 ->
		x++;
		chan c = [2] of { byte };
		c!x
	:: else -> break
	od;
	assert(len(c) == 2);
	{ chan d[2] = [1] of { byte }; d[1]!3; assert(empty(d[0])) }
}
