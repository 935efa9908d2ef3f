byte x;
chan c = [1] of { byte };
chan many[2] = [1] of { byte };

active proctype p()
{
	xr x;
	xs many[1];
	xr cc;
	c?x; many[0]!1
}

// problem: 7:5 error: this is not a channel
// problem: 8:5 error: `xr` and `xs` are about a whole channel variable, not an element
// problem: 9:5 error: `cc` is not declared
