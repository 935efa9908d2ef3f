/* expect: six violated: acceptance cycle
 * expect: six violated: acceptance cycle, fair strong
 * expect: always_six violated: acceptance cycle
 * expect: always_six violated: acceptance cycle, fair weak
 * expect: always_six violated: acceptance cycle, fair strong
 * expect: always_six holds, fair component
 *
 * One process rolls a die, again and again, while another one counts. A fair run need not show a six, unless it takes every
 * step that it can take again and again.
 */
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
