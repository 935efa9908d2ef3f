/* Statements with all that needs quoting somewhere, in an indivisible sequence. */
byte x;

active proctype main() {
	atomic { printf("<a href=\"x\">&amp; \\ ]]></script>%d\n", x); x = (x < 1 && !(x > 2)); x++; x--; x++; skip }
}
