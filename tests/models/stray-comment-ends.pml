/* expect: stored 6, transitions 6, errors 0
 *
 * A comment ends at the first asterisk and slash; another pair is ignored.
 */
byte x = 2;
byte y = 3; */

active proctype p() { */
	/* x = 7 /* x = 8 */ */
	x = x */* 2, not 3 */ 2;
	if
	:: x == 4 */ -> y = x *// twice
			2
	fi */ ;
	assert(y == 8)
}
*/
