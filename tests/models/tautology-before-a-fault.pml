/* expect: safety violated: index
 * expect: always holds
 *
 * A formula that is true whatever a model does is decided before the run ends in a fault.
 */
byte x;

active proctype faulty()
{
	byte few[2];
	byte at = 3;
	few[at] = 1
}

ltl always { (x < 0) V (x != 0 -> x != 0) }
