byte a[2]; byte i = 7; byte x = a[i];
active proctype p() { skip }
