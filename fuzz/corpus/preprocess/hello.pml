/* expect: safety holds
 *
 * The smallest model: one process, one statement.
 */
active proctype main()
{
	printf("hello\n")
}
