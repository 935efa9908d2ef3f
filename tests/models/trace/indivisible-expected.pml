/* expect: trace holds
 *
 * Events inside of indivisible sequences count one by one.
 */
chan c = [4] of { byte };

active proctype p()
{
	atomic { c!3; c!4 };
	d_step { c!5; c!6 }
}

trace { c!3; c!4; c!5; c!6 }
