#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Command lines with a mistake: the status and the message of each, as t/docs/mistakes.txt has them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need "${CXX%% *}"
unset XAUDIT_CONFIG XAUDIT_RULES XAUDIT_PAGER PAGER

# ---- what the command lines name ----
cat >shop.cc <<'END'
namespace srv {
struct Store {
	int hold(int) __attribute__((noinline));
};
int Store::hold(int n)
{
	return n + 1;
}
}
int main()
{
	srv::Store store;
	return store.hold(1) != 2;
}
END
"$CXX" -O0 -Wl,--as-needed -o shop shop.cc || bail 'no program of C++'
mkdir empty
: >file.txt
printf 'ouput = x\n' >nosection.conf
printf '[trace]\nouput = x\n' >key.conf
printf '[trace]\nmode = rign\n' >value.conf
printf '[libary x]\n' >section.conf
record t3 -k entry,calls -l 'libc.so*' -F 'srv::*@shop' -F main@shop ./shop
is "$status/$err" '0/' 'a trace is there'

# ---- the table ----
# Lines "$ WORDS", as in a shell behind `xaudit`, "STATUS MESSAGE", and an empty one. What differs from time to time has
# a name in capitals: HERE, the folder; N, a process or thread; T, a time.
normal() {
	sed -E -e "s|$tmp|HERE|g" -e 's/process [0-9]+/process N/g' -e 's/which has [0-9]+ \(/which has N (/' -e \
		's,/p[0-9]+,/pN,g' -e 's/ends [0-9.]+ [mu]?s/ends T/'
}
mistakes=0
while read -r mark words; do
	[ "$mark" = '$' ] || continue
	read -r expected
	# shellcheck disable=SC2086 # the words of a shell
	eval "bounded 60 \"\$XAUDIT\" $words" </dev/null >"$tmp/said" 2>"$tmp/said.err"
	got="$? $(normal <"$tmp/said.err")"
	rm -rf xaudit.data xaudit.data.old
	mistakes=$((mistakes + 1))
	is "$got" "$expected" "xaudit $words"
done <"$top_srcdir/t/docs/mistakes.txt"
ok 'there are 80 and more' test "$mistakes" -ge 80
done_testing
