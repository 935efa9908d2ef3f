byte x;

inline add(a, b) { a = a + b }
inline add(a) { a++ }

active proctype p()
{
	add(x);
	add(x, 1);
	ad(x);
	later(x);
	x = add(x) + 1;
	return 3
}

inline later(a) { a = 0 }

// problem: 4:8 error: there is an inline `add` already
// problem: 9:2 error: wrong number of arguments for `add`: 1 expected, 2 given
// problem: 10:4 error: expected `;` after this statement, found `(`; there is no inline `ad` that could be called
// problem: 11:7 error: expected `;` after this statement, found `(`; the inline `later` is defined further down; it must be defined before it is used
// problem: 12:13 error: expected a statement, found `+`
// problem: 13:2 error: `return` is possible only in an inline that is called as `x = name(…)`
