#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit html and xaudit view, the file: where it is written, what happens to one that is there, links of others, and
# how it is opened.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/html/html.sh"

{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo "$libraries"
	echo "$nested_calls"
} | write_trace xaudit.data
cd "$tmp" || bail 'no temporary folder'

# run ARG...: xaudit with these; $status, $said.
run() {
	status=0
	said=$(bounded 60 "$XAUDIT" "$@" 2>&1 </dev/null) || status=$?
}
# complete FILE
complete() {
	[ "$(tail -n 1 "$1")" = '<p>The end.' ] && grep -q '<script type="application/json"' "$1"
}

run html
is "$status $said" '0 ' 'without options'
ok 'the page is xaudit.html' complete xaudit.html
echo before >page.html && chmod 644 page.html && ln page.html other
run html -o page.html xaudit.data
is "$status $said" '0 ' 'a file that is there is replaced'
ok 'by the page' complete page.html
is "$(cat other) $(stat -c %a page.html)" 'before 600' 'not written into, and its mode is not taken over'
is "$(ls page.html.* 2>/dev/null)" '' 'nothing is left beside it'
status=0
"$XAUDIT" html -o - >out 2>err || status=$?
is "$status $(cat err)" '0 ' 'on standard output'
ok 'is the same' complete out
echo mine >mine && ln -s mine link
run html -o link
is "$status $said $(stat -c %F link)" '0  symbolic link' 'a link stays'
ok 'what it leads to is replaced' complete mine
mkdir folder
run html -o folder
is "$status $said" "1 xaudit html: folder can't be written: Is a directory" 'a folder is refused'
run html -o nowhere/page.html
is "$status $said" "1 xaudit html: nowhere/page.html can't be written: No such file or directory" \
	'a folder that is not there'
run html -o /dev/full
is "$status $said" "1 xaudit html: /dev/full can't be written: No space left on device" 'a full disk'
ok 'a device stays one' test -c /dev/full
run html nowhere
is "$status $(echo "$said" | wc -l)" '1 1' 'no trace'
run html --tid=77 -o none.html
is "$status $(echo "$said" | wc -l)" '1 1' 'a thread that there is not'
ok 'makes no page' test ! -e none.html
run html --from=5 --to=3
is "$status" 2 'no time between --from and --to'
run html --format=json
is "$status" 2 'an unknown option'

# A packed trace, and one that is damaged.
run pack -o packed xaudit.data
run html -o packed.html packed
ok 'of a packed trace' complete packed.html
is "$(sed 's/"made_real_ns":"[0-9]*"//; s/"path":"[^"]*"//' packed.html | cksum)" \
	"$(sed 's/"made_real_ns":"[0-9]*"//; s/"path":"[^"]*"//' xaudit.html | cksum)" 'it is the same'
{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo "$libraries"
	echo "$nested_calls"
	echo 'entry 77 1500'
	echo 'exit 77 1600'
} | write_trace short
run html -o short.html short
like "$status $said" '^1 xaudit: .*an event of a function that meta does not name' 'a damaged trace is told of'
ok 'and shown, as far as it can be read' complete short.html

# Texts that are cut, of events and of values, with less room behind the cut than the ellipsis takes: malloc() can tell.
x=$(printf '%0300d' 0)
{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo "$libraries"
	echo 'layout 1 entry 1 text:arg0:path'
	echo 'thread 100 main'
	echo "custom 16 1000 =${x}x"
	echo "custom 16 1001 =${x}xx"
	time=1010
	# Of so many bytes: with the name and quotes some of these have 501 and 502.
	for bytes in 490 491 492 493 494 495 496 497 498 499 500 501; do
		echo "values 1 $time =$(printf "%0${bytes}d" 0)"
		echo "exit 1 $((time + 5))"
		time=$((time + 10))
	done
} | write_trace long
status=0
MALLOC_CHECK_=3 LD_PRELOAD=libc_malloc_debug.so.0 "$XAUDIT" html -o long.html long 2>err || status=$?
is "$status $(grep -v 'cannot be preloaded' err)" '0 ' 'long texts are cut within their memory'
ok 'and the page is complete' complete long.html

# ---- without a page ----

mkdir without && cp "$XAUDIT" without/xaudit
status=0
said=$(without/xaudit html -o none.html 2>&1) || status=$?
like "$status $said" '^1 xaudit html: there is no page in .*/page\.html: this xaudit was built without npm; install ' \
	'without its page, the command says so'
echo '<!-- no page -->' >without/page.html
status=0
said=$(without/xaudit html -o none.html 2>&1) || status=$?
like "$status $said" '^1 xaudit html: there is no page in .*/without/page\.html' 'a placeholder is none'
ok 'and nothing is written' test ! -e none.html

# ---- view ----

mkdir fake temp
printf '%s\n' '#!/bin/sh' 'echo "$@" >>"$XDG_LOG"' 'exit "${XDG_STATUS:-0}"' >fake/xdg-open
chmod +x fake/xdg-open
XDG_LOG=$tmp/opened TMPDIR=$tmp/temp PATH=$tmp/fake:$PATH
export XDG_LOG TMPDIR PATH
unset DISPLAY WAYLAND_DISPLAY
run view
path=$(ls temp/xaudit-??????.html)
is "$status $said" "0 $tmp/$path
xaudit view: there is no display here; open the page in a browser: $tmp/$path" 'view without a display names the page'
ok 'which is there' complete "$path"
is "$(stat -c %a "$path")" 600 'and only its owner can read it'
ok 'nothing was opened' test ! -e opened
rm -f temp/*
DISPLAY=:7
export DISPLAY
run view xaudit.data
path=$(ls temp/xaudit-??????.html)
is "$status $said" "0 $tmp/$path" 'with a display it says the path'
is "$(cat opened)" "$tmp/$path" 'and opens it'
rm -f temp/*
XDG_STATUS=3
export XDG_STATUS
run view --no-values
path=$(ls temp/xaudit-??????.html)
is "$status $said" "0 $tmp/$path
xaudit view: xdg-open can't open a browser; open the page in one: $tmp/$path" 'where that fails it says so'
rm -f temp/*
run view --tid=77
is "$status $(ls temp)" '1 ' 'what is wrong leaves no page'

# ---- a signal ----

{
	many_functions 100 1048576
	echo 'thread 100'
	echo 'random 5 2000000 100 50'
} | write_trace many
# stopped NAME ARG...: the command ends by SIGTERM once there is a file of this name in `temp`.
stopped() {
	stopped_name=$1 waited=0 status=0
	shift
	"$XAUDIT" "$@" many >said 2>&1 &
	while ! ls temp | grep -q "$stopped_name" && [ $((waited += 1)) -le 1000 ]; do sleep 0.01; done
	kill -TERM $!
	wait $! || status=$?
	is "$status $(ls temp)" '143 ' "$1, which SIGTERM ends, leaves no file"
}
stopped '^out\.' html -o temp/out
stopped '^xaudit-' view
stopped '^out\.' export --format=csv -o temp/out
rm -rf many

TMPDIR=$tmp/nowhere
run view
like "$status $said" "^1 xaudit view: .*/nowhere/xaudit-.*\.html can't be written: No such file or directory$" \
	'a folder for temporary files that is not there'
done_testing
