byte x; chan c = [1] of { byte };
active proctype P() { do :: x = 1 - x od }
never sends { do :: c!1 od }
