#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tables of xaudit-trace(5) are the structures of the format: each field with its offset and its width, all of a
# structure, and all structures of records.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
page=$top_srcdir/doc/xaudit-trace.5

# rows PAGE: "STRUCT OFFSET BYTES FIELD" of each row of the tables that stand behind the name of a structure.
rows() {
	awk '/^\.Pq Vt "struct / { gsub(/[":]/, ""); struct = $4 }
		/^\.El/ { struct = "" }
		/^\.It [0-9]+ Ta [-0-9]+ Ta / && struct { print struct, $2, $4, $6 }' "$1"
}

# compared PAGE: what is different in the headers, one line each.
compared() {
	rows "$1" >"$tmp/rows"
	awk '
	function ends() {
		if (struct && !open)
			printf "\tif (end != sizeof(struct %s))\n\t\tprintf(\"%s: %%zu bytes\\n\", end);\n",
				struct, struct
	}
	BEGIN {
		print "#include <stddef.h>\n#include <stdio.h>\n#include \"format/sched.h\""
		print "#include \"format/trace.h\"\n#include \"format/values.h\""
		print "#define IS(s, f, at, wide) do { \\"
		print "\tsize_t o = offsetof(struct s, f); \\"
		print "\tif (o != at || wide) printf(\"%s.%s: at %zu, not %d\\n\", #s, #f, o, at); } while (0)"
		print "int main(void)\n{\n\tsize_t end = 0;"
	}
	$1 != struct { ends(); print "\tend = 0;"; struct = $1; open = 0 }
	{
		if ($3 == "-") {
			printf "\tIS(%s, %s, %d, 0);\n", $1, $4, $2
			open = 1
		} else
			printf "\tIS(%s, %s, %d, sizeof(((struct %s *)0)->%s) != %d);\n", $1, $4, $2, $1, $4, $3
		printf "\tif (end < %d)\n\t\tprintf(\"%s: something is before %s\\n\");\n", $2, $1, $4
		if ($3 != "-")
			printf "\tend = end > %d ? end : %d;\n", $2 + $3, $2 + $3
	}
	END { ends(); print "\treturn 0;\n}" }' "$tmp/rows" >"$tmp/compare.c"
	$CC -I"$top_srcdir" -o "$tmp/compare" "$tmp/compare.c" 2>"$tmp/cc" && "$tmp/compare" ||
		sed -n 's/.*error: //p' "$tmp/cc"
}

is "$(compared "$page")" '' 'each field is where the page says, and as wide'
# Structures that begin with the header of records, or are an element of one, and those that the page begins with.
sed -n '/^struct trace_[a-z_]* {$/{s/struct //; s/ {//; h}
	/^\tstruct trace_record head;/{x;p}
	s/^\tstruct \(trace_[a-z_]*\) [a-z]*\[\];/\1/p' "$top_srcdir/format/trace.h" \
	"$top_srcdir/format/values.h" >"$tmp/records"
printf '%s\n' trace_chunk trace_executed trace_head trace_counts trace_pair trace_record sched_head sched_record \
	>>"$tmp/records"
ok 'there are structures of records' test "$(wc -l <"$tmp/records")" -ge 21
is "$(rows "$page" | cut -d' ' -f1 | sort -u)" "$(sort -u "$tmp/records")" 'no structure is missing'

# What would be found.
sed 's/^\.It 8 Ta 4 Ta what/.It 8 Ta 8 Ta what/' "$page" >"$tmp/wide.5"
is "$(compared "$tmp/wide.5" | head -1 | cut -d: -f1)" trace_text.what 'a wrong width is found'
sed 's/^\.It 12 Ta 4 Ta flags/.It 16 Ta 4 Ta flags/' "$page" >"$tmp/moved.5"
like "$(compared "$tmp/moved.5")" 'trace_object.flags: at 12, not 16' 'a wrong offset is found'
sed '/^\.It 24 Ta 4 Ta object/d; /^\.It 16 Ta 8 Ta seq/d; /^\.It 12 Ta 4 Ta text/d' "$page" >"$tmp/less.5"
like "$(compared "$tmp/less.5")" 'trace_pages: something is before sites' 'a field that is missing is found'
sed 's/^\(\.It 24 Ta 8 Ta \)clock/\1time/' "$page" >"$tmp/name.5"
unlike "$(compared "$tmp/name.5")" '^$' 'a field that there is not is found'
done_testing
