typedef point { byte x }
typedef points { point all[3] }
chan first = [-1] of { byte };
chan second = [100000] of { byte };
chan third = [3] of { points };
chan fourth = [len(first)] of { byte };

active proctype p() { first!1; second!1; fourth!1; len(third) > 0 }

// problem: 3:15 error: the capacity of a channel must be a constant from 0 to 65535
// problem: 4:16 error: the capacity of a channel must be a constant from 0 to 65535
// problem: 5:23 error: an array of records cannot be part of a message
// problem: 6:16 error: the capacity of a channel must be a constant from 0 to 65535
