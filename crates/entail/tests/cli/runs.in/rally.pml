/* Two players send a ball to and fro, and nobody ever wins. */
chan left = [1] of { bit };
chan right = [1] of { bit };
bit won;

active proctype one() {
	bit ball;
	right!1;
	do
	:: left?ball -> right!1 - ball
	od
}

active proctype two() {
	bit ball;
	do
	:: right?ball -> left!1 - ball
	od
}

ltl ends { <> (won == 1) }
