byte x;
active proctype P() { do :: x = 1 - x od }
never watches { do :: x = 1 od }
