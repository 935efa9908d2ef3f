byte x;

active proctype p()
{
	label: byte y;
	x = 1
}

// problem: 5:9 error: expected a statement after the label, found `byte`; move the declaration before the label
