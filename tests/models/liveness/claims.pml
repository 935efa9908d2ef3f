/* expect: ends violated: claim end
 * expect: cycles violated: acceptance cycle
 * expect: anything violated: refuted
 * expect: nothing holds
 * expect: asserts violated: claim end
 * expect: otherwise holds
 *
 * Never claims: one that comes to its end, and others that accept a cycle, whatever happens, or nothing.
 */
byte x;
active proctype counter() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }

never ends { do :: x == 2 -> break :: else od }
never cycles { accept: do :: x < 3 :: x >= 3 od }
never anything { accept: do :: true od }
never nothing { do :: x < 4 od; accept: do :: true od }
never asserts { do :: assert(x < 3) od }
never otherwise { wait: if :: x > 3 -> goto accept :: else -> goto wait fi; accept: goto accept }
