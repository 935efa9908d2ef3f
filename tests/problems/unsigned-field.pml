chan c = [1] of { byte, unsigned };

active proctype p() { c!1,2 }

// problem: 1:25 error: a message cannot have a field of type `unsigned`
