byte x;

active proctype main() { do :: x = 1 - x od }

never {
wait:
	do
	:: x == 1 -> goto accept_stay
	:: true
	od;
accept_stay:
	do
	:: x == 1
	od
}
