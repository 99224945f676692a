#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What an index knows of going up a stack: of unwind information in each form, of damaged one, and of libraries and
# programs, where libdw has to say the same at each row.
. "${top_srcdir:-.}/t/lib/tap.sh"

need readelf
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
"$CC" -O2 "-I$top_srcdir" -o frames "$beside/unwind_libdw.c" "$top_builddir/audit/index/.libs/libindex.a" \
	"$top_builddir/x86_64/.libs/libsled.a" -ldw -lelf 2>err || bail "$CC: $(cat err)"

# rules FILE: each entry, as address and rule in words
rules() {
	bounded 60 "$XAUDIT" index -nq --fd=3 "$1" 3>index >err 2>&1
	made=$?
	[ $made -eq 0 ] || { echo "xaudit: $made $(cat err)" && return; }
	./frames -l index || echo "failed: $?"
}

"$CC" -shared -nostdlib -Wl,--build-id=none -Wl,-z,separate-code -Wl,-z,max-page-size=4096 -o forms.so \
	"$beside/unwind_forms.S" 2>err || bail "$CC: $(cat err)"
is "$(rules forms.so)" '1000 rsp 1 same
1001 rsp 2 -2
1004 rbp 2 -2
1006 rsp 1 same
1007 rbp 2 -2
1010 rsp 1 same
1024 none register
1028 indirect 1 at-rbp
102c none register
102e rsp 1 at-rbp
1030 none outermost
1040 rsp 1 lost
1042 rsp 1 same
1044 rsp 1 lost
1046 rsp 1 -3
1048 rsp 1 -4
104a rsp 1 lost
104c rsp 1 -2
104e rsp 1 lost
1050 none far
1052 rsp 32767 same
1054 none far
1056 none elsewhere
1058 rsp 2 same
105a none elsewhere
105c rsp 2 same
1060 none expression
1064 none far
1068 rbp 2 same
106c indirect 0 same
1070 rsp 1 same
1078 none gap
1080 signal 0 same
1090 rsp 1 same
109b rsp 2 same
10a0 rsp 1 same
10ab rsp 2 same
10b0 none elsewhere
10c0 rsp 1 same
1110 rsp 2 same
1310 rsp 3 same
11310 rsp 4 same
11320 rsp 1 same
11324 none gap
11330 rsp 2 same
11334 rsp 3 same
11338 rsp 3 -2
1133c rsp 3 same
11340 rsp 1 same
11344 none gap
11350 rsp 1 same' 'each form has its rule'
is "$(bounded 60 "$XAUDIT" index -nv forms.so | grep backtraces)" \
	'  rows for backtraces: 51, for 99.8 % of the bytes of functions
  backtraces end in 24 bytes: no unwind information
  backtraces end in 16 bytes: nobody calls it
  backtraces end in 6 bytes: the caller'\''s frame is told by a register other than rsp and rbp
  backtraces end in 4 bytes: the caller'\''s frame is told by an expression
  backtraces end in 20 bytes: the return address is not where calls have it
  backtraces end in 8 bytes: the caller'\''s frame is too far away, or not at whole words' 'index -v counts them'

# An FDE that reaches over others: from the beginning of the next one on, that counts. It is that of `signal_frame`.
section=$(readelf -SW forms.so | sed -n 's/.* \.eh_frame *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
entry=$(readelf --debug-dump=frames forms.so 2>/dev/null | sed -n 's/^\([0-9a-f]*\) .* FDE .*pc=0*1070\.\..*/\1/p')
cp forms.so over.so
printf '\300' | dd of=over.so bs=1 seek=$((0x$section + 0x$entry + 12)) conv=notrunc 2>/dev/null
rules forms.so >whole
is "$(rules over.so | diff whole - | grep '^[<>]')" '< 1078 none gap' \
	'an FDE ends where the next one begins'

# Damage: what is made of it is an index in order, and the same each time.
i=0
none=0
bad=
while [ $i -lt 150 ]; do
	i=$((i + 1))
	cp forms.so damaged.so
	printf "\\$(printf %o $((i * 37 % 256)))\\$(printf %o $((i * 101 % 256)))" |
		dd of=damaged.so bs=1 seek=$((0x$section + i * 7919 % 0x240)) conv=notrunc 2>/dev/null
	rules damaged.so >first
	rules damaged.so >second
	cmp -s first second || bad="$bad $i differs"
	[ "$(head -n 1 first)" != 'no frames' ] || { none=$((none + 1)) && continue; }
	! grep -q '^failed\|^xaudit' first || bad="$bad $i:$(tail -n 1 first)"
done
is "$bad" '' 'whatever is damaged, entries are in order, and the same each time'
ok 'of most damaged files there are entries' test $none -lt 15
cp forms.so none.so
dd if=/dev/zero of=none.so bs=1 seek=$((0x$section)) count=4 conv=notrunc 2>/dev/null
is "$(rules none.so)" 'no frames
failed: 1' 'where there is no FDE there are no entries'

# What is installed.
compare() {
	bounded 60 "$XAUDIT" index -nq --fd=3 "$1" 3>index >err 2>&1 || echo "xaudit: $? $(cat err)"
	bounded 120 ./frames index "$1" 2>counts
}
libraries=$(dirname "$(ldd "$XAUDIT" | sed -n 's/.* => \(.*\/libc\.so\.6\) .*/\1/p')")
for file in "$libraries/libc.so.6" /lib64/ld-linux-x86-64.so.2 "$libraries"/libpthread.so.0 \
	"$libraries"/libstdc++.so.6 "$libraries"/libpython3.*.so.1.0 "$libraries"/libcrypto.so.3 "$XAUDIT" \
	/usr/bin/perl $(more echo /usr/bin/node); do
	[ -f "$file" ] || continue
	is "$(compare "$file")" '0 differences' "libdw says the same of $(basename "$file")"
	diag "$(cat counts)"
done
rules "$libraries/libc.so.6" >libc
is "$(grep -c ' signal ' libc)" 1 'libc has one way back from a signal'
# rule OF ADDRESS: of the last entry that is not behind it
rule_at() {
	awk -v at="$2" 'function n(h, i, v) {
		for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
		return v
	}
	n($1) <= n(at) { rule = $2 " " $3 } END { print rule }' "$1"
}
rules "$XAUDIT" >command
is "$(rule_at command "$(readelf -hW "$XAUDIT" | sed -n 's/.*Entry point address: *0x//p')")" 'none outermost' \
	'nobody calls a program'
done_testing
