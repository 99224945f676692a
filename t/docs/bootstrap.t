#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What bootstrap installs, when it configures again, which tests it runs, and which for a second time: on systems that
# consist of this test's own programs.
. "${top_srcdir:-.}/t/lib/tap.sh"

cd "$tmp" || bail 'no temporary folder'
mkdir -p bin build-aux m4 t/lib t/calls && touch Makefile.in build-aux/tap-driver.sh && cp "$top_srcdir/bootstrap" . ||
	bail 'no bootstrap here'
for name in sh sed dirname cat env awk rm mkdir mktemp grep sort date; do
	ln -s "$(command -v $name)" "bin/$name" || bail "no $name here"
done

# What tests leave behind is in the file `left`.
echo '[ "$1" = look ] || [ ! -e left ] || cat left' >t/lib/machine.sh

# fake PATH [LINE]...: makes a program of these lines; the file log has the arguments of its calls.
fake() {
	fake_path=$1
	shift
	# shellcheck disable=SC2016
	printf '%s\n' '#!/bin/sh' 'echo "${0##*/} $*" >>log' "$@" >"$fake_path" && chmod +x "$fake_path"
}
for name in gcc g++ autoconf automake libtoolize pkg-config perl iconv ld.lld mandoc python3 gdb jq eu-readelf \
	readelf pgrep strace uftrace babeltrace2 sqlite3 node npm chromium apt-get; do
	fake bin/$name
done
fake bin/id 'echo 0'
fake bin/nproc 'echo 1'
fake bin/make 'echo "XAUDIT_ALL=${XAUDIT_ALL-}" >>log' 'echo ":test-result: PASS one" >t/calls/one.trs'
printf 't/calls/%s\n' '# of nobody' 'one.t audit/live' 'two.t audit doc all' 'three.t auditor tool/ctl' \
	'four.t tool all' |
	sed 's,^t/calls/#,#,' >t/areas
fake configure 'echo "CXX = g++" >Makefile' 'echo "CLANG = $CLANG" >>Makefile'
fake config.status

# compiler NAME VERSION STATUS: makes a clang; linking with it ends with STATUS.
compiler() {
	fake "bin/$1" "case \$* in -dumpversion) echo $2 ;; *) exit $3 ;; esac"
}
# run JOB [AREA]...: ./bootstrap with these, $out, $status.
run() {
	rm -f log
	status=0
	out=$(bounded 60 env -i PATH="$tmp/bin" ./bootstrap "$@" 2>&1) || status=$?
}
# bootstrap [NAME=VALUE]...: ./bootstrap check-all, $out, $status, $installed: what of clang was installed.
bootstrap() {
	rm -f log
	status=0
	out=$(bounded 60 env -i PATH="$tmp/bin" "$@" ./bootstrap check-all 2>&1) || status=$?
	installed=$(sed -n 's/^apt-get .* install //p' log | tr ' ' '\n' | grep -E 'clang|c\+\+|unwind' |
		LC_ALL=C sort | tr '\n' ' ')
}
# made CXX CLANG: makes the Makefile of an earlier run.
made() {
	printf 'CXX = %s\nCLANG = %s\n' "$1" "$2" >Makefile
}
rechecks() {
	grep -c '^config.status --recheck' log
}

bootstrap
is "$installed" 'clang libc++-dev libc++abi-dev libclang-rt-dev ' \
	'where no clang is, the release says which one, and its libraries go with it'
is "$status $(printf '%s\n' "$out" | tail -n 1)" '0 3 passed, 0 failed, 0 skipped' \
	'the last line counts the checks of both parts'
is "$(grep -c '^configure' log) $(rechecks)" '1 0' 'it configures once'

compiler clang-19 19.1.7 1
made g++ ''
bootstrap
is "$installed" 'libc++-19-dev libc++abi-19-dev libclang-rt-19-dev libunwind-19-dev ' \
	'where clang-19 is alone, its libraries are missing, and no other clang'
compiler clang-19 19.1.7 0
rm Makefile
bootstrap
is "$installed" '' 'nothing is missing where its programs can be linked'
compiler clang 14.0.6 1
bootstrap
is "$installed" 'libc++-14-dev libc++abi-14-dev libclang-rt-14-dev libunwind-14-dev ' 'clang comes before clang-19'
rm Makefile
bootstrap CLANG=clang-19
is "$installed" '' 'the clang that is asked for comes before both'
made g++ clang-19
bootstrap
is "$installed" '' 'so does that which configure took'

# As the driver takes them: a language option counts for the files after it.
fake bin/clang 'case $* in -dumpversion) echo 14.0.6 ;; *c++*" -") ;; *c++*) exit 1 ;; esac'
made g++ clang
bootstrap
is "$installed" '' 'C++ is asked for before the source, where C++ libraries are looked for'
compiler clang 14.0.6 0
made g++ clang
bootstrap
is "$(rechecks)" 0 'it is not configured again while its compilers are there'
made g++ ''
bootstrap
is "$(rechecks)" 1 'it is configured again when a clang came otherwise'
made g++ clang-17
bootstrap
is "$(rechecks)" 1 'so it is when the clang that it had has gone'
made '' clang
bootstrap
is "$(rechecks)" 1 'so it is when a C++ compiler came'
rm bin/clang bin/clang-19
made g++ ''
fake bin/apt-get 'exit 100'
bootstrap
is "$status $(printf '%s\n' "$out" | tail -n 1)" '1 bootstrap: apt-get update failed' 'what apt-get fails at is said'

# ---- areas ----
# ran: the tests of each time that make checked, and XAUDIT_ALL then.
ran() {
	awk '/^make .* check/ && !/TESTS=$/ { sub(/.* check TESTS=/, ""); sub(/.* check.*/, "all"); what = $0 }
		what && sub(/^XAUDIT_ALL=/, "") { printf "%s [%s];", what, $0; what = "" }' log
}
rm bin/gdb
fake bin/apt-get
made g++ ''
run check
is "$status $(ran)" '0 all [];' 'check runs all tests, in their short form'
unlike "$(cat log)" '^apt-get .* install.* (openssl|libc[+][+]-dev)' \
	'and has no package that only check-all uses'
run check-all
is "$status $(ran)" '0 all [];t/calls/two.t t/calls/four.t AM_T_LOG_FLAGS=-k 10 3600 [1];' \
	'check-all does so, and runs the longer ones for longer'
like "$(cat log)" '^apt-get .* install.* libc[+][+]-dev .*openssl' 'with more packages'
run check audit
is "$status $(ran)" '0 t/calls/one.t t/calls/two.t [];' \
	'check of an area runs the tests of the folder and of those below it'
run check doc tool/ctl
is "$status $(ran)" '0 t/calls/two.t t/calls/three.t [];' 'check of two areas runs those of both'
run check-all audit
is "$status $(ran)" '0 t/calls/one.t t/calls/two.t [];t/calls/two.t AM_T_LOG_FLAGS=-k 10 3600 [1];' \
	'so does check-all of an area'
run check-all tool/ctl
is "$status $(ran)" '0 t/calls/three.t [];' 'where nothing is longer nothing is run again'
run check audit live
is "$status $out $(cat log 2>/dev/null)" \
	"2 bootstrap: no area 'live'; there are: audit audit/live auditor doc tool tool/ctl " \
	'an area that is none: status 2 and the list, before anything is done'
run check all
is "$status" 2 'a mark is no area'
run demo audit
is "$status $out" '2 usage: ./bootstrap [demo | check [AREA]... | check-all [AREA]...]' 'other jobs have no areas'
fake bin/make 'case "$*" in *" TESTS=t"*) x=FAIL ;; *) x=PASS ;; esac' 'echo ":test-result: $x one" >t/calls/one.trs' \
	'printf "%s: t/calls/one.t 1\n# t/calls/one.t: got: 1\n" $x >t/calls/one.log' \
	'printf "PASS: t/calls/one.t 2\n# t/calls/one.t: no\n" >>t/calls/one.log'
run check-all
is "$(printf '%s\n' "$out" | tail -n 3 | head -n 2)" 'FAIL: t/calls/one.t 1
# t/calls/one.t: got: 1' 'what failed stands at the end'
is "$status $(printf '%s\n' "$out" | tail -n 1)" '1 2 passed, 1 failed, 0 skipped' 'a failure of either part is one'
fake bin/make 'printf ":global-test-result: ERROR\n:test-result: FAIL\n:test-result: ERROR\n" >t/calls/one.trs' \
	'printf ":global-test-result: ERROR\n:test-result: PASS\n:test-result: ERROR\n" >t/calls/two.trs'
run check
is "$status $(printf '%s\n' "$out" | tail -n 1)" '1 2 passed, 2 failed, 0 skipped' \
	'a file that ends badly counts if no check of it failed'
rm -f t/calls/two.trs

# ---- what fails once ----
# failing N RESULT: ./bootstrap check of N files that fail; when they are run once more they have this RESULT.
failing() {
	fake bin/make 'case "$*" in *recheck) x='"$2"' ;; *check) x=FAIL ;; *) exit ;; esac' \
		"for n in \$(seq $1); do" \
		'printf ":test-result: PASS\n:test-result: %s\n" $x >t/calls/$n.trs' \
		'[ $x = PASS ] || printf ":recheck: yes\n" >>t/calls/$n.trs' \
		'printf "PASS: t/calls/$n.t 1\n$x: t/calls/$n.t 2\n# t/calls/$n.t: got: $x\n" >t/calls/$n.log' \
		'done' '[ $x = PASS ]'
	rm -f t/calls/*.trs t/calls/*.log
	run check
}
ln -s "$(command -v seq)" bin/seq || bail 'no seq here'
failing 4 PASS
is "$status $(printf '%s\n' "$out" | tail -n 11)" '0 Failed at first, and was run once more:
FAIL: t/calls/1.t 2
# t/calls/1.t: got: FAIL
FAIL: t/calls/2.t 2
# t/calls/2.t: got: FAIL
FAIL: t/calls/3.t 2
# t/calls/3.t: got: FAIL
FAIL: t/calls/4.t 2
# t/calls/4.t: got: FAIL
Failed:
9 passed, 0 failed, 0 skipped' 'what fails once is told, and has not failed'
failing 1 FAIL
is "$status $(printf '%s\n' "$out" | tail -n 7)" '1 Failed at first, and was run once more:
FAIL: t/calls/1.t 2
# t/calls/1.t: got: FAIL
Failed:
FAIL: t/calls/1.t 2
# t/calls/1.t: got: FAIL
2 passed, 1 failed, 0 skipped' 'what fails twice has'
is "$(grep -c '^make .*recheck' log)" 1 'it is not run for a third time'
failing 5 PASS
is "$status $(grep -c '^make .*recheck' log) $(printf '%s\n' "$out" | tail -n 1)" \
	'1 0 6 passed, 5 failed, 0 skipped' 'where much fails it is no chance, and nothing is run again'

# ---- what is left behind ----
rm -f t/calls/*.trs t/calls/*.log
printf 'tmp a was left: is there\nmount b is gone\n' >left
ls /tmp/before.* >before 2>/dev/null
failing 0 PASS
is "$status $(printf '%s\n' "$out" | tail -n 4)" '1 FAIL: the machine is not as it was before the tests
# tmp a was left: is there
# mount b is gone
0 passed, 1 failed, 0 skipped' 'a machine that is not as it was is a failure, which is told'
is "$(ls /tmp/before.* 2>/dev/null)" "$(cat before)" 'and no file of that is left'

done_testing
