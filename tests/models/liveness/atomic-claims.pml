/* expect: at_once violated: claim end
 * expect: stuck holds
 * expect: out violated: claim end
 * expect: otherwise violated: claim end
 * expect: cycle violated: acceptance cycle
 * expect: inside holds
 * expect: round holds
 * expect: asserts violated: claim end
 * expect: too_late holds
 *
 * Atomic sequences in never claims: all of one happens before the processes move again, or else nothing of it; and only
 * where the claim rests between, it can accept. SPIN's answers are the same (for `round` it has none: it goes round until
 * its stack ends).
 */
bit x;
active proctype toggle() { do :: x = 1 - x od }

never at_once { atomic { x == 0 -> true }; x == 1 }
never stuck { atomic { x == 0 -> x == 1 }; x == 0 }
never out { do :: atomic { x == 0 -> goto rest } od; rest: x == 1 }
never otherwise { atomic { x == 0 -> if :: x == 1 -> true :: else -> true fi }; x == 1 }
never cycle { accept: do :: atomic { x == 0 -> true }; x == 1 od }
never inside { do :: atomic { x == 0 -> accept: true }; x == 1 od }
never round { atomic { x == 0 -> again: true; goto again } }
never asserts { do :: atomic { x == 1 -> assert(x == 0) } :: true od }
never too_late { do :: atomic { x == 0 -> assert(x == 0) } :: x == 1 od }
