/* expect: stored 13, transitions 14, errors 3
 *
 * More fields than a message has: to receive them is an error if what the message has fits, to look at them is none. Missing
 * fields are 0.
 */
chan q = [1] of { byte };

active proctype p()
{
	byte a = 7, b = 7;
	if
	:: q?a,b -> assert(false)
	:: empty(q) -> q!3
	fi;
	if
	:: q?4,b -> assert(false)
	:: q?3,4 -> assert(false)
	:: q?[3,4] -> assert(false)
	:: q?[a,b] -> b = 6
	fi;
	q?<a,b>;
	assert(a == 3 && b == 0);
	b = 5;
	if
	:: q?3,b
	:: q?a,_
	fi;
	assert(b == 0)
}
