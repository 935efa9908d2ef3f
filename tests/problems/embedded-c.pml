c_decl { typedef struct { int x; } thing; }
c_state "thing t" "Global"
c_track "&t" "sizeof(thing)"
byte x;

active proctype p()
{
	c_code { now.t.x = 1; };
	c_expr { now.t.x == 1 };
	c_code [now.x > 0] { now.x--; };
	x = 1
}

// problem: 1:1 error: embedded C is not supported yet
// problem: 2:1 error: embedded C is not supported yet
// problem: 3:1 error: embedded C is not supported yet
// problem: 8:2 error: embedded C is not supported yet
// problem: 9:2 error: embedded C is not supported yet
// problem: 10:2 error: embedded C is not supported yet
