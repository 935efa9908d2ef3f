/* Two processes add to a counter, without care. */
byte counter;
byte done;

active [2] proctype user()
{
	byte own;
	own = counter;
	own++;
	counter = own;
	done++;
	done == 2;
	assert(counter == 2)
}
