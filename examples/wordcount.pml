/* expect: safety holds
 * expect: counted holds
 *
 * Counts the lines, words and characters of a text, as in Holzmann's example of slicing. That there are at least as many
 * characters as lines does not depend on what a word is: `entail slice --property counted` leaves out `nw` and `inword`.
 */
chan text = [1] of { short };
int c, nl, nw, nc;

active proctype writer()
{
	byte left = 4;

	do
	:: left > 0 -> left--; text!'a'
	:: left > 0 -> left--; text!' '
	:: left > 0 -> left--; text!'\n'
	:: left == 0 -> text!-1; break
	od
}

active proctype counter()
{
	bool inword = false;

	do
	:: text?c ->
		if
		:: c == -1 -> break
		:: c == '\n' -> nc++; nl++
		:: else -> nc++
		fi;
		if
		:: c == ' ' || c == '\n' -> inword = false
		:: else ->
			if
			:: !inword -> nw++; inword = true
			:: else
			fi
		fi
	od;
	printf("%d %d %d", nl, nw, nc)
}

ltl counted { [] (nc >= nl) }
