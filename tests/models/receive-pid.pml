/* expect: stored 7, transitions 7, errors 1
 *
 * A receive into `_pid` accepts any number and changes `_pid`.
 */
chan q = [1] of { byte, byte };

active proctype p()
{
	byte before = _pid, c;
	q!3,5;
	assert(q?[c,_pid] && !q?[c,eval(_pid)]);
	q?c(_pid);
	assert(c == 3 && before == 0 && _pid == 5);
	assert(_pid == before)
}
