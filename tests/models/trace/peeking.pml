/* expect: trace holds
 *
 * A message that stays in its channel was not received.
 */
chan c = [2] of { byte };
byte x;

active proctype p()
{
	c!5;
	c?<x>;
	c?[5];
	c??<5>;
	c?5
}

trace { c?5 }
