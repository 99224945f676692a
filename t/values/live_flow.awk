# SPDX-License-Identifier: MIT
#
# Judges events of live_flow.cc, "TYPE CALL", as values_of (t/lib/live.sh) prints them: is each value there, and right;
# has each call that ended begun with the value that its end tells? Prints "FUNCTION BEGUN RETURNED LEFT" for each
# function, then what is wrong. `children` says that calls may end more often than they began: in each process.

# begun CALL ARGUMENT
function begin(name, value) {
	begun[name]++
	open[name, value]++
}
function end(name, value) {
	ended[name]++
	open[name, value]--
}
function wrong() {
	if (++bad <= 10)
		print "wrong: " $0
}

$1 == "unwind" || ($1 == "tail" && $2 == "v_tail") {
	left[$2]++
	next
}
$1 == "entry" && /^entry v_swap\(-?[0-9]+, PTR, (PTR|NULL)\)$/ {
	split($2, part, /[(,]/)
	begin("v_swap", part[2])
	next
}
$1 == "entry" && /^entry v_number\(-?[0-9]+, "[0-9]+"\)$/ {
	split($0, part, /[(,")]+ ?"?/)
	begin("v_number", part[2])
	if (part[2] != part[3] && !after_tail)
		wrong()
	after_tail = 0
	next
}
$1 == "entry" && /^entry v_quick\(-?[0-9]+, 5\)$/ {
	split($2, part, /[(,]/)
	begin("v_quick", part[2])
	next
}
$1 == "entry" && /^entry v_tail\([0-9]+, "1", PTR\)$/ {
	split($2, part, /[(,]/)
	begin("v_tail", part[2])
	after_tail = 1
	next
}
$1 == "exit" && $2 == "v_swap" && NF == 5 && $3 == "=" && $5 == "doubled=" 2 * $4 {
	end("v_swap", $4)
	next
}
$1 == "exit" && $2 == "v_number" && NF == 4 && $3 == "=" {
	end("v_number", $4)
	next
}
$1 == "exit" && $2 == "v_quick" && NF == 4 && $3 == "=" {
	end("v_quick", $4 - 5)
	next
}
$1 == "exit" && $2 == "v_tail" && NF == 4 && $3 == "=" {
	end("v_tail", $4 - 1)
	next
}
{ wrong() }

END {
	for (name in begun)
		print name, begun[name], ended[name] + 0, left[name] + 0 | "sort"
	close("sort")
	for (key in open) {
		split(key, part, SUBSEP)
		if (open[key] < 0)
			early[part[1]] -= open[key]
		else
			late[part[1]] += open[key]
	}
	for (name in late)
		if (late[name] != left[name])
			print "never ended: " late[name] " of " name
	for (name in early)
		if (!children)
			print "never begun: " early[name] " of " name
	if (bad)
		print bad " wrong"
}
