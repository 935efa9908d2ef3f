chan c = [0] of { byte };

active proctype giver() { c!1; c!2 }

active proctype taker() { byte got; c?got }
