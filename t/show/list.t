#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit list: numbers, names and reasons for files that are built here, in both formats; and files that it refuses.
. "${top_srcdir:-.}/t/lib/tap.sh"

need perl
perl -MJSON::PP -e 1 2>/dev/null || skip_all 'no JSON::PP'
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
source=$top_srcdir/t/fixtures/site_functions.c

# Five functions, four of them exported; -nostdlib: and no others.
build() { # NAME COMPILER OPTION...
	built=$tmp/$1
	compiler=$2
	shift 2
	timeout 60 $compiler -w -O2 -shared -fPIC -nostdlib -o "$built" "$@" "$source" 2>"$tmp/build.err"
}
list() {
	bounded 60 "$XAUDIT" list "$@" 2>"$tmp/err"
}
# query FILE EXPRESSION: evaluates it with the JSON of FILE as $j, and functions by name in %f.
query() {
	perl -MJSON::PP -0777 -e '
		my $j = JSON::PP->new->utf8->decode(<STDIN>);
		my %f = map { ($_->{name} // "" => $_) } @{$j->{functions}};
		my $r = eval $ARGV[0]; die $@ if $@;
		print ref $r ? JSON::PP->new->canonical->encode($r) : $r, "\n"' "$2" <"$1"
}

build five.so gcc -fpatchable-function-entry=5 -Wl,--build-id=0x00112233445566778899 ||
	bail "gcc: $(cat "$tmp/build.err")"
list --format=json "$tmp/five.so" >"$tmp/five"
is "$? $(cat "$tmp/err")" '0 ' 'a library is listed as JSON'
is "$(query "$tmp/five" '[sort keys %$j]')" \
	'["build_id","coverage","event_sleds","file","functions","sites","without_plt"]' \
	'the object has the documented members'
is "$(query "$tmp/five" '$j->{file}')" "$tmp/five.so" 'the file is named as it was given'
is "$(query "$tmp/five" '$j->{build_id}')" 00112233445566778899 'the build-id is in hexadecimal'
is "$(query "$tmp/five" '$j->{sites}')" \
	'{"calls":1,"cyg":0,"entry":5,"fentry":0,"guard":0,"mcount":0,"patchable":5,"plt":4,"xray":0}' \
	'sites are counted per kind'
is "$(query "$tmp/five" '$j->{coverage}')" \
	'{"cyg":0,"entry":100,"fentry":0,"guard":0,"mcount":0,"patchable":100,"plt":80,"xray":0}' \
	'coverage is in percent of 5 functions'
is "$(query "$tmp/five" 'scalar @{$j->{functions}}')" 5 'there are 5 functions'
is "$(query "$tmp/five" '[sort keys %f]')" '["hidden","site_branch","site_leaf","site_loop","site_tail"]' \
	'they have their names'
is "$(query "$tmp/five" '$f{site_leaf}{kinds}')" '["patchable","plt","entry"]' 'an exported function has three kinds'
is "$(query "$tmp/five" '$f{hidden}{kinds}')" '["patchable","entry"]' 'a local function has two'
is "$(query "$tmp/five" '[sort keys %{$f{hidden}}]')" '["address","kinds","name","refused","size"]' \
	'a function has the documented members'
is "$(query "$tmp/five" '$f{hidden}{refused}')" '{}' 'nothing is refused'
is "$(query "$tmp/five" 'sprintf("%016x", hex $f{site_loop}{address})')" \
	"$(nm "$tmp/five.so" | sed -n 's/ T site_loop$//p')" 'its address is that of nm'
is "$(query "$tmp/five" '$f{site_loop}{size}')" \
	"$((0x$(nm -S "$tmp/five.so" | sed -n 's/.* \(.*\) T site_loop$/\1/p')))" \
	'its size is that of nm'
by_address='sort { hex $a->{address} <=> hex $b->{address} }'
is "$(query "$tmp/five" "join ' ', map { \$_->{address} } $by_address @{\$j->{functions}}")" \
	"$(query "$tmp/five" 'join " ", map { $_->{address} } @{$j->{functions}}')" 'functions are listed by address'

build short.so gcc -fpatchable-function-entry=5,2 || bail 'gcc'
list --format=json "$tmp/short.so" >"$tmp/short"
is "$(query "$tmp/short" '[$j->{sites}{patchable}, $j->{coverage}{patchable}]')" '[0,0]' 'too few NOPs make no site'
is "$(query "$tmp/short" '$f{site_leaf}{refused}')" '{"patchable":"fewer than 5 bytes of NOPs"}' 'the reason is told'
is "$(query "$tmp/short" '$f{site_leaf}{kinds}')" '["plt","entry"]' 'the function can be traced in other ways'

build stripped.so gcc -s -fpatchable-function-entry=5 -Wl,--build-id=none || bail 'gcc'
list --format=json "$tmp/stripped.so" >"$tmp/stripped"
is "$(query "$tmp/stripped" 'scalar grep { !defined $_->{name} } @{$j->{functions}}')" 1 \
	'the local function of a stripped file has the name null'
is "$(query "$tmp/stripped" '[$j->{sites}, exists $j->{build_id} ? 1 : 0, defined $j->{build_id} ? 1 : 0]')" \
	'[{"calls":1,"cyg":0,"entry":5,"fentry":0,"guard":0,"mcount":0,"patchable":5,"plt":4,"xray":0},1,0]' \
	'the sites of a stripped file are found; without build-id, null'

if [ -n "$CLANG" ] && build xray.so "$CLANG" -Os -fxray-instrument -fxray-instruction-threshold=1; then
	list --format=json "$tmp/xray.so" >"$tmp/xray"
	xray_functions='grep { grep { $_ eq "xray" } @{$_->{kinds}} } @{$j->{functions}}'
	found=$(query "$tmp/xray" "[\$j->{coverage}{xray}, \$f{site_branch}{refused}, scalar $xray_functions]")
	version=$("$CLANG" -dumpversion)
	if [ "${version%%.*}" -lt 17 ]; then
		is "$found" '[80,{"xray":"a conditional tail call shares the sled (clang before 17)"},4]' \
			'clang before 17: 4 of 5 functions can be traced by XRay, and a conditional tail call is '\
'refused'
	else
		is "$found" '[100,{},5]' 'clang from 17 on: all 5 functions can be traced by XRay'
	fi
else
	skip 1 'no clang with XRay'
fi

# A name that needs escaping in JSON and must not reach a terminal as it is.
mkdir "$tmp/odd"
printf 'a\tb"\\\033[31m\377\302\233' | xargs -0 -I{} cp "$tmp/five.so" "$tmp/odd/{}"
for odd in "$tmp"/odd/*; do :; done
list --format=json "$odd" >"$tmp/odd.json"
is "$(query "$tmp/odd.json" 'join " ", map { sprintf "%x", ord } split //, (split m{/}, $j->{file})[-1]')" \
	'61 9 62 22 5c 1b 5b 33 31 6d fffd 9b' 'any file name is a valid JSON string'
list "$odd" >"$tmp/odd.text"
is "$(head -n 1 "$tmp/odd.text" | tr -d '\n' | LC_ALL=C tr -d ' -~' | wc -c)" 0 \
	'no control character of a name reaches the table'

# 1 MiB of sleds, in a file that says so 400 times, by sections that are all the same bytes; and a symbol table whose
# names are all the ends of one text.
python3 - "$tmp/same.so" "$tmp/ends.so" <<'END' || bail 'no python3 to write files with'
import struct, sys
pack = struct.pack
def elf(path, data, sections):
    names = b"\0" + b"\0".join(name for name, *_ in sections) + b"\0.shstrtab\0"
    table = (4096 + len(data) + len(names) + 63) & ~63
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, table, 0, 64, 56, 1, 64,
        len(sections) + 2, len(sections) + 1)
    head += pack("<IIQQQQQQ", 1, 5, 0, 0, 0, table, table, 4096)
    headers = b"\0" * 64
    for name, type, flags, offset, size, link, entry in sections:
        headers += pack("<IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1, type, flags, 4096 + offset, 4096 + offset,
            size, link, 0, 8, entry)
    headers += pack("<IIQQQQIIQQ", names.index(b".shstrtab"), 3, 0, 0, 4096 + len(data), len(names), 0, 0, 1, 0)
    with open(path, "wb") as f:
        f.write((head.ljust(4096, b"\0") + data + names).ljust(table, b"\0") + headers)
sled = pack("<QQBBB", 0, 0, 0, 1, 2).ljust(32, b"\0")
elf(sys.argv[1], sled * 32768, [(b"xray_instr_map", 1, 2, 0, 1 << 20, 0, 0)] * 400)
count, length = 20000, 500000
symbols = b"".join(pack("<IBBHQQ", 1 + i, 0x12, 0, 3, 4096 + i * 16, 16) for i in range(count))
elf(sys.argv[2], symbols + b"\0" + b"x" * length + b"\0",
    [(b".symtab", 2, 0, 0, len(symbols), 2, 24), (b".strtab", 3, 0, len(symbols), length + 2, 0, 0),
     (b".text", 1, 6, 0, len(symbols), 0, 0)])
END
bounded 60 sh -c 'ulimit -v 300000; exec "$0" "$@"' "$XAUDIT" list "$tmp/same.so" >"$tmp/table" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(sed -n 's/.*: \([0-9]*\) functions, .*/\1/p' "$tmp/table")" '0  32768' \
	'sections that are all the same bytes are read as often as the file has bytes for them'
bounded 60 sh -c 'ulimit -v 300000; exec "$0" "$@"' "$XAUDIT" list "$tmp/ends.so" >"$tmp/table" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(grep -c '^0' "$tmp/table") $(grep -c ' x*$' "$tmp/table")" '0  19999 31' \
	'names that are all the ends of one text take memory for as many bytes as 16 such files have'

list "$tmp/five.so" >"$tmp/table"
is "$? $(cat "$tmp/err")" '0 ' 'a library is listed as a table'
like "$(cat "$tmp/table")" '^patchable +5 +5 +100\.0 %$' 'the table has a line per kind'
like "$(cat "$tmp/table")" '^xray +0 +0 +0\.0 %  no compile-time sites in the file$' 'a kind without functions says why'
like "$(cat "$tmp/table")" '^[0-9a-f]{16} +[0-9]+  patchable,plt,entry +site_leaf$' 'the table has a line per function'
is "$(grep -c '^[0-9a-f]\{16\} ' "$tmp/table")" 5 'there are 5 of these'
list "$tmp/short.so" >"$tmp/table"
like "$(cat "$tmp/table")" '^ +refused 5: fewer than 5 bytes of NOPs$' 'reasons are counted'
like "$(cat "$tmp/table")" '^[0-9a-f]{16} .* site_leaf  \(patchable: fewer than 5 bytes of NOPs\)$' \
	'a function says its reason'
unlike "$(cat "$tmp/table")" "$(printf '\033')" 'there are no colours in a file'
list --color=always "$tmp/short.so" >"$tmp/table"
like "$(cat "$tmp/table")" "$(printf '\033')" '--color=always asks for colours'

# Libraries of the system: 97 of 100 functions, as many as xaudit index tells of.
for name in libz.so.1 libstdc++.so.6 libc.so.6 libcrypto.so.3; do
	file=$(ldconfig -p | sed -n "s,^[[:space:]]*$name (.*x86-64.*=> ,,p" | head -n 1)
	if [ -z "$file" ]; then
		skip 2 "no $name here"
		continue
	fi
	list --format=json "$file" >"$tmp/system"
	known=$(bounded 60 "$XAUDIT" index -n "$file" | sed -n 's/.*: \(.* functions, [0-9]*\) displaceable.*/\1/p')
	is "$(query "$tmp/system" '(scalar @{$j->{functions}}) . " functions, $j->{sites}{entry}"')" "$known" \
		"$name: the functions are those of the index"
	ok "$name: nearly all can be traced by entry" test \
		"$(query "$tmp/system" 'int $j->{coverage}{entry}')" -ge 97
done

printf '\177ELF' >"$tmp/cut"
for file in /etc/passwd "$tmp" /dev/null "$tmp/cut"; do
	list "$file" >"$tmp/out"
	is "$? $(cat "$tmp/err" "$tmp/out")" "1 xaudit list: $file: not an x86-64 ELF file" \
		"$file is refused, in one line"
done
list "$tmp/absent" >"$tmp/out"
is "$? $(cat "$tmp/err" "$tmp/out")" "1 xaudit list: $tmp/absent: No such file or directory" \
	'a missing file is told, in one line'
for arguments in '' "--format=xml $tmp/five.so" \
	 "--color=blue $tmp/five.so" '--format' "--nothing $tmp/five.so"; do
	list $arguments >"$tmp/out"
	is "$? $(wc -l <"$tmp/err") $(cat "$tmp/out")" '2 1 ' \
		"wrong usage has status 2 and one line: ${arguments:-no argument}"
done

# The examples of the man page.
mkdir "$tmp/examples"
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$top_srcdir/doc/xaudit-list.1" |
	sed -e '/^\./d' -e 's/\\e/\\/g' >"$tmp/examples/run"
is "$(grep -c 'xaudit list' "$tmp/examples/run")" 4 'the man page has 4 examples'
libc=$(ldconfig -p 2>/dev/null | sed -n 's/.*x86-64.* => \(.*\/libc\.so\.6\)$/\1/p' | head -n 1)
sed -i "s|/lib/x86_64-linux-gnu/libc.so.6|${libc:-/lib/x86_64-linux-gnu/libc.so.6}|" "$tmp/examples/run"
mkdir "$tmp/bin" && ln -s "$XAUDIT" "$tmp/bin/xaudit"
(cd "$tmp/examples" && PATH=$tmp/bin:$PATH bounded 60 sh -e ./run >out 2>err)
is "$? $(cat "$tmp/examples/err")" '0 ' 'they run'
is "$(query "$tmp/examples/libtwice.json" '$f{twice}{kinds}')" '["patchable","plt","entry"]' \
	'the function of the example can be traced'
mkfifo "$tmp/unread"
exec 5<>"$tmp/unread" 6>"$tmp/unread" 5<&-
"$XAUDIT" list "$XAUDIT" >&6 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'a reader that has seen enough is no error'
done_testing
