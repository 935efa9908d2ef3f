byte x;

active proctype p()
{
	x = 1 § 2;
	x = 'é';
	x = 3 @ 4;
	x = 5 $ 6
}

// problem: 5:8 error: the character `§` has no meaning in Promela
// problem: 6:6 error: the character `'é'` has no meaning in Promela
// problem: 7:8 error: expected `;` after this statement, found `@`
// problem: 8:8 error: the character `$` has no meaning in Promela
