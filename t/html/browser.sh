# SPDX-License-Identifier: MIT
#
# For tests of pages in Chromium; source it first. Sets $page, the folder of the page's sources, and what browser.mjs
# wants in the environment.
. "${top_srcdir:-.}/t/lib/tap.sh"

need node chromium
page=$top_srcdir/tool/html/page
for modules in "${XAUDIT_NODE_MODULES-}" "$top_builddir/t/html/npm/node_modules" ''; do
	[ -z "$modules" ] || [ ! -d "$modules/puppeteer-core" ] || break
done
[ -n "$modules" ] || skip_all 'no puppeteer-core here: npm was missing when this was built'
XAUDIT_NODE_MODULES=$modules CHROMIUM=$(command -v chromium) CHROMIUM_FOLDER=$tmp/chromium HOME=$tmp TMPDIR=$tmp
export XAUDIT_NODE_MODULES CHROMIUM CHROMIUM_FOLDER HOME TMPDIR

# browser SCRIPT ARGUMENT...: a check for each line that the script says (browser.mjs); its own end is one, too.
browser() {
	script=$1
	shift
	browser_status=0
	bounded 240 node "$beside/$script" "$@" >"$tmp/said" 2>"$tmp/errors" || browser_status=$?
	while IFS='	' read -r word sentence seen; do
		tap_status=0
		[ "$word" = ok ] || tap_status=1
		tap_check "$tap_status" "$sentence" || diag "$seen"
	done <"$tmp/said"
	is "$browser_status $(cat "$tmp/errors")" '0 ' "$script came to its end"
}
