# SPDX-License-Identifier: MIT
#
# Part of run.sh: how fast xaudit html makes a page, how large that is, and how much memory it takes. The traces are in
# the page cache.

# page LABEL FOLDER EVENTS
page() {
	best 3 "$XAUDIT" html -o "$tmp/page.html" "$2"
	row "$1" "$(awk -v n="$3" -v t="$least" -v b="$(stat -c %s "$tmp/page.html")" '
		BEGIN { printf "%7.1f million events/s (%.1f s), %.1f MB", n / t * 1e3, t / 1e9, b / 1e6 }')"
	run "$top_builddir/t/lib/max_rss" "$XAUDIT" html -o "$tmp/page.html" "$2"
	row '  its memory' "$(tail -n 1 "$tmp/output") KiB"
	rm -f "$tmp/page.html"
}

. "$top_srcdir/t/lib/work.sh"
limit=600
heading "xaudit html of made traces; 25 MB, 500 MB of memory and 10 million events/s are the aim"
for threads in 8 300; do
	work "$threads" $((EVENTS * 5 / threads)) >"$tmp/script"
	"$top_builddir/t/lib/make_trace" "$tmp/work" <"$tmp/script" || fail 'make_trace fails'
	page "$((EVENTS * 5)) events, $threads threads" "$tmp/work" $((EVENTS * 5))
	rm -rf "$tmp/work"
done
limit=
