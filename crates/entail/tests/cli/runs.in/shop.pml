/* expect: safety violated: assertion
 *
 * A customer orders two things, one after the other, from hand to hand. The shop has a packer for each order, and parcels
 * come by post: the first to be ordered need not be the first to come.
 */
chan order = [0] of { byte };
chan post  = [2] of { byte };

active proctype customer()
{
	byte first, second;

	order!1;
	order!2;
	post?first;
	post?second;
	assert(first < second)
}

active proctype shop()
{
	byte number;

end:	do
	:: order?number -> run packer(number)
	od
}

proctype packer(byte number)
{
	post!number
}
