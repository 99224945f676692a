# SPDX-License-Identifier: MIT
#
# For tests of `xaudit html`; sourced after t/lib/tap.sh and t/lib/written.sh. The command finds its page beside itself:
# here one of a few lines, so that the data are looked at, whether or not there was npm for the real one.
need python3
skip_sanitized
[ -f "$top_builddir/.libs/libxaudit-read.so.0" ] || bail "no $top_builddir/.libs/libxaudit-read.so.0: run make check"
LD_LIBRARY_PATH=$(cd "$top_builddir/.libs" && pwd)
export LD_LIBRARY_PATH
mkdir "$tmp/bin" && cp "$XAUDIT" "$tmp/bin/xaudit" || bail 'no copy of the command'
printf '%s\n' '<!doctype html>' '<meta charset=utf-8>' '<body>' '<!--XAUDIT-DATA-->' '<p>The end.' >"$tmp/bin/page.html"
XAUDIT=$tmp/bin/xaudit

# html NAME [OPTION]...: makes the page of the trace of that name; $status, and what it said.
html() {
	html_name=$1
	shift
	status=0
	said=$(bounded 120 "$XAUDIT" html -o "$tmp/$html_name.html" "$@" "$tmp/$html_name" 2>&1) || status=$?
}
# page FUNCTION NAME [ARGUMENT]...: what t/html/page.py tells of a page.
page() {
	page_function=$1 page_name=$2
	shift 2
	bounded 120 python3 "$top_srcdir/t/html/page.py" "$page_function" "$tmp/$page_name.html" "$@" 2>&1 | head -n 60
}
