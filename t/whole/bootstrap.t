#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What bootstrap installs of clang, and when it configures again: on systems made of programs of this test's own.
. "${top_srcdir:-.}/t/lib/tap.sh"

cd "$tmp" || bail 'no temporary folder'
mkdir -p bin build-aux m4 t/unit && touch Makefile.in build-aux/tap-driver.sh && cp "$top_srcdir/bootstrap" . ||
	bail 'no bootstrap here'
for name in sh sed dirname cat env awk rm mkdir; do
	ln -s "$(command -v $name)" "bin/$name" || bail "no $name here"
done

# fake PATH [LINE]...: a program of these lines; the file log says with what arguments it was called.
fake() {
	fake_path=$1
	shift
	# shellcheck disable=SC2016
	printf '%s\n' '#!/bin/sh' 'echo "${0##*/} $*" >>log' "$@" >"$fake_path" && chmod +x "$fake_path"
}
for name in gcc g++ autoconf automake libtoolize pkg-config perl iconv ld.lld mandoc python3 gdb jq eu-readelf \
	readelf pgrep strace apt-get; do
	fake bin/$name
done
fake bin/id 'echo 0'
fake bin/nproc 'echo 1'
fake bin/make 'echo ":test-result: PASS one" >t/unit/one.trs'
fake configure 'echo "CXX = g++" >Makefile' 'echo "CLANG = $CLANG" >>Makefile'
fake config.status

# compiler NAME VERSION STATUS: a clang, and the status that linking has.
compiler() {
	fake "bin/$1" "case \$* in -dumpversion) echo $2 ;; *) exit $3 ;; esac"
}
# bootstrap [NAME=VALUE]...: ./bootstrap check, $out, $status, $installed: what of clang was installed.
bootstrap() {
	rm -f log
	status=0
	out=$(bounded 60 env -i PATH="$tmp/bin" "$@" ./bootstrap check 2>&1) || status=$?
	installed=$(sed -n 's/^apt-get install //p' log | tr ' ' '\n' | grep -E 'clang|c\+\+|unwind' | LC_ALL=C sort |
		tr '\n' ' ')
}
# made CXX CLANG: the Makefile of an earlier time.
made() {
	printf 'CXX = %s\nCLANG = %s\n' "$1" "$2" >Makefile
}
rechecks() {
	grep -c '^config.status --recheck' log
}

bootstrap
is "$installed" 'clang libc++-dev libc++abi-dev libclang-rt-dev ' \
	'where no clang is, the release says which one, and its libraries go with it'
is "$status $(printf '%s\n' "$out" | tail -n 1)" '0 1 passed, 0 failed, 0 skipped' 'the last line counts the checks'
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

done_testing
