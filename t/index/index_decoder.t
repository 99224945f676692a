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
check() { # LIBRARY LISTING [random]
	bounded 800 python3 "$top_srcdir/t/lib/index_decoder.py" $objdump "$1" ${3-} <"$2" 2>&1
}

# agrees NAME: the other decoder on this library, in $tmp/list.
agrees() {
	list "$file" >"$tmp/list"
	usable=$(grep -c '^[0-9a-f]\{16\} .*  \(jump\|padding\)  ' "$tmp/list")
	refused=$(grep -c '^[0-9a-f]\{16\} .*  -  ' "$tmp/list")
	check "$file" "$tmp/list" >"$tmp/said"
	# Data among assembler may look like pointers or instructions, which objdump can't tell: 1 function of 4000.
	unseen=$(grep -c 'the other decoder does not see why$' "$tmp/said")
	[ $((unseen * 4000)) -gt "$usable" ] || sed -i '/the other decoder does not see why$/d' "$tmp/said"
	is "$(cat "$tmp/said")" "checked $usable usable, $refused refused" "$objdump agrees on $1"
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
# led FILE: the listing, as if functions that branches lead into could be displaced.
led() {
	sed -E 's/^([0-9a-f]{16} +[0-9]+ +)- +- +(.*leads into the bytes displaced\))/\1jump     0+6   \2/' "$1"
}
list "$file" >"$tmp/list"
led "$tmp/list" >"$tmp/wrong"
ok 'a branch into displaced bytes would be seen' \
	test "$(check "$file" "$tmp/wrong" | grep -c 'a branch leads into what is displaced')" -ge 5

# Functions of random bytes, most of which were instructions: refused, or displaced as whole instructions that nothing
# leads into.
cat >"$tmp/functions.py" <<'END'
import random, re, sys
random.seed(int(sys.argv[2]))
text = open(sys.argv[1], "rb").read()
text = text[len(text) // 8:len(text) // 2]
print(".text")
for i in range(3000):
    size = random.randrange(1, 40)
    at = random.randrange(len(text) - size)
    code, form = bytearray(text[at:at + size]), random.random()
    if form < .3:
        code = bytearray(random.randrange(256) for _ in range(size))
    elif form < .6:
        for _ in range(random.randrange(1, 4)):
            code[random.randrange(size)] = random.choice(
                (0x74, 0xe3, 0xe8, 0x0f, 0xf3, 0x48, 0xc4, random.randrange(256)))
        if size > 8: # a jump back to its beginning, or into what is behind that
            at = random.randrange(5, size - 1)
            code[at:at + 2] = 0xeb, random.randrange(8) - (at + 2) & 255
    # Decoders differ about whether a wait is one instruction with what follows it.
    code = code.replace(b"\x9b", b"\x90")
    # Processors differ about the length of branches with a prefix 66.
    code = re.sub(rb"\x66(?=[^\x0f]?[\x70-\x7f\xe0-\xe3\xe8\xe9\xeb]|[^\x0f]?\x0f[\x80-\x8f])", b"\x90", code)
    print(".p2align 4\n.globl f%d\n.type f%d,@function\nf%d:\n.cfi_startproc\n.byte %s\nret\n.cfi_endproc" %
          (i, i, i, ",".join(map(str, code))))
    print(".size f%d,.-f%d" % (i, i))
END
i=0 usable=0 seen=0
: >"$tmp/said"
while [ $i -lt "$(rounds 2 20)" ]; do
	i=$((i + 1))
	python3 "$tmp/functions.py" "$file" $i >"$tmp/random.s" &&
		"$CC" -shared -nostdlib -o "$tmp/random" "$tmp/random.s" ||
		bail 'random functions are not assembled'
	list "$tmp/random" >"$tmp/list"
	check "$tmp/random" "$tmp/list" random >"$tmp/checked"
	usable=$((usable + $(sed -n 's/^checked \([0-9]*\) usable.*/\1/p' "$tmp/checked")))
	grep -v '^checked' "$tmp/checked" | sed "s/^/$i: /" >>"$tmp/said"
	led "$tmp/list" >"$tmp/wrong"
	seen=$((seen + $(check "$tmp/random" "$tmp/wrong" random | grep -c 'a branch leads into what is displaced')))
done
is "$(cat "$tmp/said")" '' "$usable random functions that are displaceable: nothing contradicts it"
ok 'many are' test "$usable" -gt $((i * 500))
ok "branches into them would be seen ($seen)" test "$seen" -gt $((i * 20))
done_testing
