/* expect: safety holds
 * expect: can_reset violated: refuted
 *
 * A machine that can always be reset, until it is broken.
 */
mtype = { idle, busy, broken };
mtype state = idle;

active proctype machine() {
	do
	:: state == idle -> state = busy
	:: state == busy -> state = idle
	:: state == busy -> state = broken; break
	od;
end:	do :: state == broken od
}

ctl can_reset { AG EF (state == idle) }
