byte n;

active [2] proctype up() {
	n = n + 1;
	assert(n == 1)
}
