/* expect: trace holds
 *
 * As in SPIN, what is compared is the last message of the channel after a send, and the first one before a receive,
 * whichever was sent or received.
 */
chan c = [3] of { byte };

active proctype p() { c!!5; c!!3; c??5 }

trace { c!5; c!5; c?3 }
