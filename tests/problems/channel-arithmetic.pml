chan c = [1] of { byte };

active proctype p()
{
	c++;
	!c;
	c!1
}

// problem: 5:2 error: arithmetic on a channel
// problem: 6:2 warning: this asks whether `c` is no channel at all; to send, write `channel!message`
