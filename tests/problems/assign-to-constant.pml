mtype = { red, green };
mtype colour;

active proctype p()
{
	colour = red;
	green = colour;
	red++
}

// problem: 7:2 error: `green` is a constant, the name of an mtype value
// problem: 8:2 error: `red` is a constant, the name of an mtype value
