byte x;

active proctype p()
{
	(x == 1 && (x > 0);
	x = 2
}

// problem: 5:20 error: expected `)`, found `;`
