/* expect: stored 7, transitions 7, errors 1
 *
 * `-->` is `->`, also behind a variable.
 */
byte x = 3;
byte y;

active proctype p()
{
	if
	:: x --> y = x--> 1
	fi;
	y = (x == 3 --> 2 : 1) --> assert(y == 3)
}
