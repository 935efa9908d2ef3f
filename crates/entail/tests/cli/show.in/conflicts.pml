byte x, y;

active proctype alone() {
	x = 1;
	x = 2
}

active [2] proctype pair() {
	x == 2;
	y++
}
