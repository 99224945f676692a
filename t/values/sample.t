#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Samples of memory in a program: of each way to give memory so many blocks are samples as is likely, within five
# standard deviations, and so is the estimate of all bytes; each sample's free is recorded, and none of other blocks,
# whichever thread frees it, in a forked child, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

cxx=${CXX:-c++}
if ! $cxx -O1 -w -fno-builtin -pthread -o "$tmp/calls" "$top_srcdir/t/values/sample_calls.cc" 2>"$tmp/cxx"; then
	skip_all 'no compiler of C++'
fi
xaudit=$top_builddir/xaudit
interval=16384

cat >"$tmp/conf" <<END
[context malloc]
context = arg1 ret sample:16k:malloc
[context calloc]
context = arg1 arg2 ret sample:16k:calloc
[context realloc]
context = arg1 arg2 ret sample:16k:realloc
[context reallocarray]
context = arg1 arg2 arg3 ret sample:16k:reallocarray
[context aligned_alloc]
context = arg1 arg2 ret sample:16k:aligned_alloc
[context posix_memalign]
context = arg1 arg2 arg3 ret out:ptr:block:+0(arg1) sample:16k:posix_memalign
[context free]
context = arg1 sample:16k:free
[context _Zn*]
context = arg1 ret sample:16k:new
[context _Zd*]
context = arg1 sample:16k:delete
END
functions='malloc calloc realloc reallocarray aligned_alloc posix_memalign free _Zn* _Zd*'

# record OPTION...: the program, into $tmp/d; what `dump` tells of it in $tmp/dump.
record() {
	rm -rf "$tmp/d"
	set -f
	for f in $functions; do set -- "$@" -F "$f"; done
	set +f
	"$xaudit" record -o "$tmp/d" -c "$tmp/conf" "$@" -- "$tmp/calls" 2>"$tmp/err"
	is $? 0 'the program runs as it would'
	"$xaudit" dump --no-pager "$tmp/d" >"$tmp/dump"
}

# judge SIZE-COUNT...: lines "what: got, expected".
judge() {
	awk -v interval="$interval" -v way="$way" -v wanted="$*" '
		function value(name) {
			if (!match($0, " " name "=[^ ]*")) return ""
			return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
		}
		function near(what, got, mean, deviation) {
			if (got < mean - 5 * deviation || got > mean + 5 * deviation)
				printf "%s: %.0f, expected %.0f with a deviation of %.0f\n", what, got, mean, deviation
		}
		function drop(block) {
			if (size[block] == 2222)
				twice[$2, block]++
			else if (block in size)
				delete size[block]
			else
				strange[$5]++
		}
		$3 == "entry" {
			name = $5
			sub(/\(.*/, "", name)
			sub(/^(__libc_)?memalign$/, "aligned_alloc", name) # of glibc it is one function
			if (name !~ /^(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free)$/)
				next
			samples = value("sample")
			asked = name == "malloc" ? value("arg1") : value("arg2")
			if (name == "calloc") asked *= value("arg1")
			if (name == "reallocarray") asked *= value("arg3")
			if (name == "posix_memalign") asked = value("arg3")
			if (name ~ /^(free|realloc|reallocarray)$/ && value("arg1") + 0 != 0) {
				# Frees are events only if they free samples; of realloc, one of the two.
				if (value("arg1") in size || samples == 0) drop(value("arg1"))
			}
			# Of realloc one call fails in a hundred, of 2^62 bytes.
			if (name == "free" || (way == "entries" && asked + 0 > 2 ^ 60)) next
			if (samples != 0 && samples != interval) print "an interval is " samples
			if (way == "entries") count[name " " asked]++
			else pending[$2] = samples == 0 ? "" : asked
			by[$2] = name
		}
		$3 == "exit" && pending[$2] != "" {
			block = by[$2] == "posix_memalign" ? value("block") : $NF
			for (i = 6; by[$2] != "posix_memalign" && i < NF; i++)
				if ($i == "=") block = $(i + 1)
			asked = pending[$2]
			pending[$2] = ""
			if (block == "NULL") next
			if (block in size && size[block] != 2222) print "a sample is not freed: " block
			size[block] = asked
			count[by[$2] " " asked]++
		}
		END {
			n = split(wanted, field, " ")
			for (i = 1; i <= n; i++) {
				split(field[i], part, ":")
				p = 1 - exp(-part[2] / interval)
				got = count[part[1] " " part[2]]
				near(part[1] " " part[2], got, part[3] * p, sqrt(part[3] * p * (1 - p)))
				all += part[2] * part[3]
				estimate += got * part[2] / p
				variance += part[2] ^ 2 * part[3] * (1 / p - 1)
				known[part[1] " " part[2]] = sizes[part[2]] = 1
			}
			near("all bytes", estimate, all, sqrt(variance))
			# What starts and ends, and libstdc++, allocate little.
			for (key in count)
				if (!(key in known) && count[key] > 5) print count[key] " samples are of others: " key
			if (way == "entries") exit
			for (block in size) live[size[block]]++
			for (s in live)
				# libc and libstdc++ have blocks that stay.
				if (s != 3333 && s != 2222 && s in sizes)
					print live[s] " samples of " s " bytes are not freed"
			if (live[3333] != count["malloc 3333"])
				print "of those of 3333 " live[3333] + 0 " are left"
			for (name in strange) print strange[name] " frees are of no sample: " name
			for (key in twice) { split(key, part, SUBSEP); frees[part[1]] += twice[key] }
			for (tid in frees) {
				children++
				if (frees[tid] != count["malloc 2222"]) print "a child frees " frees[tid]
			}
			if (children != 2) print children + 0 " processes free those of 2222"
		}' "$tmp/dump"
}

few() {
	ok "$1: few calls are events" test "$(grep -c ' entry ' "$tmp/dump")" -lt 80000
	is "$("$xaudit" info --format=json "$tmp/d" | jq -c '[.processes[].lost] | add')" 0 "$1: no event is lost"
	is "$(awk '$3 == "entry" { print $5 }' "$tmp/dump" | grep -cE '^(operator|_Z)')" 0 \
		"$1: operator new, which calls malloc, is no event"
}

# Of realloc(NULL), alignments up to 16, and reallocarray, glibc's malloc and realloc count: in their own code.
same='malloc:1001:20000 calloc:2000:20000 malloc:800:10000 realloc:3001:10000 malloc:801:10000 aligned_alloc:4096:10000
	posix_memalign:5000:8000 malloc:802:5000 malloc:1701:10000 malloc:3333:2000 malloc:900:80000 malloc:2222:2000'
entry="$same malloc:1500:10000 realloc:3600:10000 malloc:1600:10000"
way='' doing='entry'
record
is "$(judge "$entry" 2>&1)" '' "$doing: samples are as many as is likely, each is freed, and nothing else"
few "$doing"
doing='by bindings'
record -k plt -l '*'
is "$(judge "$same realloc:1500:10000 reallocarray:3600:10000 aligned_alloc:1600:10000" 2>&1)" '' \
	"$doing: the same, but that each function counts itself"
few "$doing"
doing='a coarse clock'
record --clock=coarse
is "$(judge "$entry" 2>&1)" '' "$doing: the same"
printf '[trace]\nstack-copying = libstdc++*\n' >>"$tmp/conf"
way=entries doing='no returns'
record
is "$(judge "$entry" 2>&1)" '' "$doing: as many are samples"
is "$(grep -c ' free()' "$tmp/dump")" 0 'and as their addresses are not known, no frees are seen'
few "$doing"
sed -i '/^\[trace\]/d; /^stack-copying/d' "$tmp/conf"
record -m count
counted=$("$xaudit" report --format=json "$tmp/d" | jq '[.functions[] | select(.function == "calloc") | .calls] | add')
# ld.so and libc have some of their own.
ok "mode count counts all calls ($counted)" test "$counted" -ge 20050 -a "$counted" -le 20150
done_testing
