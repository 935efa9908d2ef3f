/* expect: progress holds
 * expect: progress holds, fair weak
 * expect: progress holds, fair strong
 *
 * A run that ends goes on without progress no more than it goes on at all.
 */
init { progress: skip; skip }
