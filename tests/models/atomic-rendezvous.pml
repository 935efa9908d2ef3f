/* expect: stored 34, transitions 50, errors 0
 *
 * A rendezvous hands the privilege of not being interrupted to an atomic receiver.
 */
byte x;
chan rv = [0] of { byte };

active proctype sender()
{
	atomic { x = 1; rv!1; x = 2; x = 3 }
}

active proctype receiver()
{
	byte y;
	atomic { rv?y; x = 4; x = 5 };
	x = 6
}

active proctype other()
{
	x = 9
}
