/* expect: safety violated: assertion
 *
 * A priority belongs to the state. Unless it is compiled with -DNOCOMP, SPIN's verifier leaves it out when it compares states,
 * takes both choices for one, and finds no error.
 */
active proctype P() priority 5
{
	if
	:: set_priority(_pid, 3)
	:: set_priority(_pid, 7)
	fi;
	assert(_priority == 3)
}
