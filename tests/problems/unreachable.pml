byte x;

active proctype p()
{
	do
	:: x++;
	   goto done;
	   x = 7;
	   x = 8
	od;
	x = 9;
done:	x = 0
}

// problem: 8:5 warning: unreachable: no statement leads here
// problem: 11:2 warning: unreachable: no statement leads here
