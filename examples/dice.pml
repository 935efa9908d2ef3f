/* Somebody rolls a die, again and again, while somebody else counts. */
byte die = 1, turns;

active proctype roller() {
	do
	:: die = 1
	:: die = 3
	:: die = 6
	od
}

active proctype counter() {
	do
	:: turns = (turns + 1) % 3
	od
}

ltl six { <> (die == 6) }
ctl always_six { AF (die == 6) }
