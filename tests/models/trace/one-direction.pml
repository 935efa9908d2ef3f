/* expect: trace holds
 *
 * Nothing is said of receiving, so that it is no event. Neither is looking at a message.
 */
chan c = [2] of { byte };
byte x;

active proctype p()
{
	c!5;
	c?<x>;
	c?[5];
	c?5;
	c!4;
	c??<4>;
	c??4
}

trace { c!5; c!4 }
