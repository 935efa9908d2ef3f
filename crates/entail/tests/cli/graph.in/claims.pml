byte x;

active proctype main() {
progress:
	do
	:: x = 1 - x
	od
}

ltl often { [] <> (x == 1) }
ltl once { <> (x == 1) }
