mtype = { red, green };
mtype light = red;

active proctype lamp() {
	do
	:: light == red -> light = green
	:: light == green -> light = red
	od
}
