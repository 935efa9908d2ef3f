byte x;

inline broken(v)
{
	v = 1 +;
	v = 2
}

active proctype p()
{
	broken(x);
	broken(x)
}

// problem: 5:9 error: expected an expression, found `;`
