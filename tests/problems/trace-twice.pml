chan c = [1] of { byte };

active proctype p() { c!1 }

trace { c!1 }

notrace { c!2 }

trace { c!_ }

// problem: 7:1 error: a model can have only one `trace` or `notrace`
// problem: 9:1 error: a model can have only one `trace` or `notrace`
