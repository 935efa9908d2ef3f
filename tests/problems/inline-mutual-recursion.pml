byte x;

inline ping() { x++; pong() }
inline pong() { x--; ping() }

active proctype p() { ping() }

// problem: 4:22 error: the inline `ping` calls itself
