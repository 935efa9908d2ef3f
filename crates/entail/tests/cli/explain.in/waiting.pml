/* Everybody waits for somebody else. */
chan net = [2] of { byte };
chan ack = [0] of { byte };
byte x;

active proctype user()
{
	byte b;

	net!1; net!2; ack?b; x == 3
}

active proctype server()
{
	byte m;

	net?m; net?m; net?m; ack!m
}

active proctype other()
{
	if
	:: x > 4 -> skip
	:: ack?7 -> skip
	fi
}
