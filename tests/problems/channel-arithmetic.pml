chan c = [1] of { byte };

active proctype p()
{
	c++;
	!c;
	c!1
}

// problem: 5:2 error: arithmetic on a channel
// problem: 6:2 warning: this tests whether `c` is not a channel; to send, write `channel!message`
