/* expect: trace holds
 *
 * Constants must be equal; `_` and variables stand for anything; `eval` asks for the value that a variable has.
 */
mtype = { red, green };
typedef Pair { byte one; byte two };
chan c = [2] of { mtype, byte };
chan d = [2] of { Pair };
byte x = 7;
Pair pair;

active proctype sender()
{
	Pair mine;
	c!red(1);
	c!green(2);
	c?red(_);
	c?_,_;
	mine.one = 3;
	d!mine;
	d?mine;
	x = 4;
	c!red(4);
	c?_,_
}

trace {
	c!red(1);
	c!green,x;
	c?red(_);
	c?_,x;
	d!pair;
	d?3,0;
	c!_(4);
	c?red,eval(x)
}
