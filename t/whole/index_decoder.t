#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What xaudit index says of libraries of the system holds when another decoder reads them: displaced bytes are whole
# instructions that nothing leads into, and each refusal has its reason.
. "${top_srcdir:-.}/t/lib/tap.sh"

need python3 readelf ldconfig
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
for objdump in llvm-objdump objdump none; do
	command -v $objdump >/dev/null && break
done
[ $objdump != none ] || skip_all 'no objdump here'

# Path of a library that ld.so knows.
library() {
	ldconfig -p | sed -n "s,^[[:space:]]*$1 (.*x86-64.*=> ,,p" | head -n 1
}
list() {
	bounded 120 "$XAUDIT" index -nv "$1"
}
check() { # LIBRARY LISTING
	bounded 800 python3 "$top_srcdir/t/lib/index_decoder.py" $objdump "$1" <"$2" 2>&1
}

# agrees NAME: the other decoder on this library, in $tmp/list.
agrees() {
	list "$file" >"$tmp/list"
	usable=$(grep -c '^[0-9a-f]\{16\} .*  \(jump\|padding\)  ' "$tmp/list")
	refused=$(grep -c '^[0-9a-f]\{16\} .*  -  ' "$tmp/list")
	is "$(check "$file" "$tmp/list")" "checked $usable usable, $refused refused" "$objdump agrees on $1"
	# 97 of 100.
	ok "$1: $usable functions are displaceable, $refused not" \
		test $((usable * 100)) -ge $(((usable + refused) * 97))
}
for name in libz.so.1 libstdc++.so.6 libc.so.6; do
	file=$(library $name)
	if [ -z "$file" ]; then
		skip 3 "no $name here"
		continue
	fi
	agrees $name
	# The check itself must be able to fail.
	sed -E 's/^([0-9a-f]{16} .*(jump|padding) +[04]\+)[0-9]+/\119/' "$tmp/list" >"$tmp/wrong"
	ok "$name: other lengths contradict it" test "$(check "$file" "$tmp/wrong" | wc -l)" -gt $((usable / 2))
done
# Larger ones, also written in assembler. LLVM takes minutes, and gigabytes.
large() {
	for name; do
		file=$(library "$name")
		if [ -n "$file" ]; then
			agrees "${file##*/}"
		else
			skip 2 "no $name here"
		fi
	done
}
large 'libsqlite3\.so\.0'
more large 'libcrypto\.so\.3' 'libperl\.so\.[0-9.]*' 'libpython3\.[0-9]*\.so\.1\.0' 'libjpeg\.so\.[0-9]*' \
	'libpng16\.so\.16'
if [ "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt 8000000 ]; then
	more large 'libLLVM-*[0-9]*\.so[0-9.]*'
else
	more skip 2 'too little memory for LLVM'
fi
file=$(library libc.so.6)
list "$file" | sed -E 's/^([0-9a-f]{16} +[0-9]+ +)- +- +(.*leads into the bytes displaced\))/\1jump     0+6   \2/' \
	>"$tmp/wrong"
ok 'a branch into displaced bytes would be seen' \
	test "$(check "$file" "$tmp/wrong" | grep -c 'a branch leads into what is displaced')" -ge 5
done_testing
