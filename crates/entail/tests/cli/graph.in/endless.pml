int x, y;

active proctype main() {
	do
	:: x++
	:: y++
	od
}
