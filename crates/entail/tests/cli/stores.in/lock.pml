/* One lock, and a branch that is never taken. */
bool taken;
byte inside;

active [2] proctype user()
{
	atomic { !taken -> taken = true };
	inside++;
	if
	:: inside == 1
	:: inside == 2 -> inside = 0; taken = false
	fi;
	inside--;
	taken = false
}
