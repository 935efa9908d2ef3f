byte x;

active proctype p()
{
	x = 1 fi;
	x = 2;
	od;
	:: x = 3
}
}

active proctype q() { x = 4 }

// problem: 5:8 error: there is no `if` for this `fi`
// problem: 7:2 error: there is no `do` for this `od`
// problem: 8:2 error: this `::` is not inside an `if` or `do`
// problem: 10:1 error: there is nothing open that this `}` could close
