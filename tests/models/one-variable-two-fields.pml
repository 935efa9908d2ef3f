/* expect: stored 9, transitions 9, errors 0
 *
 * A variable that receives two fields of a message keeps the last.
 */
chan q = [2] of { byte, byte };
byte list[2];
byte i;

active proctype p()
{
	q!3,4;
	q!5,6;
	q?list[i],list[i];
	assert(list[0] == 4);
	q?<list[0],list[0]>;
	q??list[i],list[0];
	assert(list[0] == 6)
}
