byte at[8];

active [6] proctype walker() {
	do
	:: at[_pid] < 4 -> at[_pid]++
	:: at[_pid] == 4 -> at[_pid] = 0
	od
}
