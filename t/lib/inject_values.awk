# SPDX-License-Identifier: MIT
#
# Takes values out of dumped events, for inject.awk, and makes events of the type "values" of those whose values are not
# as expected: awk -f inject_values.awk EXPECTED DUMP. EXPECTED has a line for each function and type of its events:
# "TYPE FUNCTION REGEX", where the regular expression matches all behind the function's name. After custom comes the
# type of custom events in place of a function.
FILENAME == ARGV[ARGC - 2] {
	key = $1 " " $2
	sub(/^[^ ]+ [^ ]+ ?/, "")
	expected[key] = "^" $0 "$"
	next
}
$3 == "entry" || $3 == "exit" {
	name = $5
	sub(/[(].*/, "", name)
	if (($3 " " name) in expected) {
		match($0, / (0x[0-9a-f]+|-) +[^ (]+/)
		said = substr($0, RSTART + RLENGTH)
		# Behind it is the object.
		match(said, /  [^ ]+(  entry only)?$/)
		object = substr(said, RSTART)
		said = substr(said, 1, RSTART - 1)
		if (said !~ expected[$3 " " name])
			print $1, $2, "values", $4, name said object
		print $1, $2, $3, $4, name object
		next
	}
}
# Of a custom event the type stands for the function, and its data and backtrace are what is expected.
$3 == "custom" && ("custom " $5) in expected {
	match($0, / -  [^ ]+/)
	said = substr($0, RSTART + RLENGTH)
	if (said !~ expected["custom " $5])
		print $1, $2, "values", $4, $5 said
	sub(/ > .*/, "")
}
{ print }
