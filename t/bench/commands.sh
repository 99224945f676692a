# SPDX-License-Identifier: MIT
#
# Part of run.sh: each command that reads a trace, and each format of xaudit export, on one trace of READS events: how
# fast, in how much memory, and how large what it writes is. The trace is in the page cache when it is read; all of it
# on one processor.
: "${READS:=100000000}"

# reads LABEL ARGUMENT...: one run. What the command writes to $tmp/written is told, too, and removed.
reads() {
	label=$1
	shift
	rm -rf "$tmp/written"
	start=$(now)
	# shellcheck disable=SC2086
	run $pin "$top_builddir/t/lib/max_rss" "$XAUDIT" "$@"
	time=$(($(now) - start))
	size=
	[ ! -e "$tmp/written" ] || size=", writes $(du -s -B 1 --apparent-size "$tmp/written" | cut -f 1)"
	row "xaudit $label" "$(awk -v n="$READS" -v t="$time" -v m="$(tail -n 1 "$tmp/output")" -v s="$size" '
		BEGIN { printf "%7.1f million events/s (%.2f s), %.0f MiB%s", n / t * 1e3, t / 1e9, m / 1024, s }')"
	rm -rf "$tmp/written"
}

limit=900
build gcc libbench_tree.so -fPIC -shared -fpatchable-function-entry=5 call_tree.c
build gcc call_tree call_tree_main.c "$tmp/libbench_tree.so" "-Wl,-rpath,$tmp"
# shellcheck disable=SC2086
run $pin "$XAUDIT" record -l 'libbench_tree.so' -k patchable -o "$tmp/reads" "$tmp/call_tree" "$((READS / 2))"
heading "commands, on a trace of $READS events of 33 functions in random trees"
for command in report 'report -j1' 'report -j1 --by=library' 'report --callers=tree_9' 'report --hist=tree_9' info \
	loads graph stacks 'stacks --format=svg' 'slow tree_9' outliers dump 'dump --format=json' replay; do
	# shellcheck disable=SC2086
	reads "$command" $command "$tmp/reads"
done
reads 'html' html -o "$tmp/written" "$tmp/reads"
for format in $("$XAUDIT" export --help | sed -n '/^Formats:/,$s/^  \([a-z]*\) .*/\1/p'); do
	reads "export --format=$format" export "--format=$format" -o "$tmp/written" "$tmp/reads"
done
reads 'pack -j1' pack -j 1 -o "$tmp/written" "$tmp/reads"
rm -rf "$tmp/reads"
limit=
