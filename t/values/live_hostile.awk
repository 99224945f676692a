# SPDX-License-Identifier: MIT
#
# Writes sections [context hN] of random expressions, 16 for each of 150 functions. -v seed=N
function pick(n) {
	return int(rand() * n)
}
function one_of(list,	part) {
	return part[1 + pick(split(list, part, " "))]
}
# An expression, `deep` levels of brackets deep at most. at_end: of a call's end. shifted: it is to be shifted.
function expression(deep, at_end, shifted,	which) {
	which = pick(deep > 0 ? 12 : 6)
	if (shifted && which == 6)
		which = 7
	if (which == 0)
		return "%" one_of("rdi rsi rdx rcx r8 r9 rax rbx rsp rbp r15")
	if (which == 1)
		return one_of("live_variable live_text")
	if (which == 2 && at_end)
		return "ret"
	if (which < 6)
		return "arg" 1 + pick(8)
	if (which == 6)
		return expression(deep, at_end, 1) ">>" pick(64)
	if (which == 7)
		return "&" pick(100) "(" expression(deep - 1, at_end, 0) ")"
	return one_of("+ -") one_of("0 8 1 4090 16 7") "(" expression(deep - 1, at_end, 0) ")"
}
function context(	type, at_end, name) {
	at_end = pick(3) == 0
	type = one_of("int8 int16 int32 int64 uint8 uint16 uint32 uint64 int long ptr hex float double string string " \
		"ustring bytes:9 bytes:" (pick(2) ? "arg" 1 + pick(8) : 30) " text:20 stdstring oldstring cxxstring")
	name = substr("abcdefghijklmnopqrstuvwxyz", 1 + pick(26), 1)
	return (at_end ? "out:" : "") type ":" name ":" expression(3, at_end, 0)
}

BEGIN {
	srand(seed)
	for (i = 0; i < 150; i++) {
		print "[context h" i "]"
		line = "context ="
		for (k = 0; k < 16; k++)
			line = line " " context()
		print line
		if (i % 7 == 6)
			print "if = " expression(2, 0, 0) " " one_of("< > == != <= >=") " " pick(100)
	}
}
