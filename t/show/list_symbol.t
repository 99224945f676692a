#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit list FILE SYMBOL: instructions, which of them kind entry displaces, where its jump would be, and why not; by
# names, patterns and addresses, in both formats.
. "${top_srcdir:-.}/t/lib/tap.sh"

need perl nm
perl -MJSON::PP -e 1 2>/dev/null || skip_all 'no JSON::PP'
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
XAUDIT_INDEX=$tmp/none
export XAUDIT_INDEX

"$CC" -shared -nostdlib -Wl,-Bsymbolic -Wl,--build-id=none -o forms.so \
	"$top_srcdir/t/fixtures/index_functions.S" 2>err || bail "$CC: $(cat err)"
list() {
	bounded 60 "$XAUDIT" list "$@" 2>err
}
# Of nm: 16 digits.
address() { # SYMBOL
	nm forms.so | sed -n "s/ [tTi] $1\$//p"
}
# The address of a symbol, and a number of bytes more.
behind() { # SYMBOL BYTES
	printf '%016x' "$((0x$(address "$1") + $2))"
}
# A name, its other names, and what is said of its entry.
head_of() {
	list forms.so "$1" | grep -v '^  [0-9a-f]\{16\} '
}
# Its instructions, with their marks, without addresses and probes; runs of blanks are one.
code_of() {
	list forms.so "$1" | sed -n 's/^  [0-9a-f]\{16\}  +0x[0-9a-f]* *[a-z-]*  \([> ]\) / \1 /p' |
		sed -e 's/ *(no probe: .*//' -e 's/  */ /g' -e 's/ $//'
}

# ---- as text ----
landed=$(address landed)
is "$(head_of landed)" "landed: $landed, 12 bytes, plt,entry
  entry: a jump of 5 bytes at $(behind landed 4), behind endbr64; 7 bytes are displaced" 'an entry behind endbr64'
like "$(code_of landed)" '^ f3 0f 1e fa endbr64
 > 48 8d 05 .. .. 00 00 lea rax, \[rip\+0x[0-9a-f]*\] # 0x[0-9a-f]*
 c3 ret$' 'its instructions, the displaced one marked'
is "$(list forms.so landed | sed -n 's/^  \([0-9a-f]\{16\}\) .*/\1/p')" "$landed
$(behind landed 4)
$(behind landed 11)" 'have their addresses'
value=$(list forms.so landed | sed -n 's/.* # 0x//p')
is "$(printf '%016x' "0x$value")" "$(nm forms.so | sed -n 's/ [dDrR] value$//p')" 'what one points to is told'
is "$(head_of spared)" "spared: $(address spared), 14 bytes, plt,entry
  entry: a jump of 2 bytes at $(address spared), to one of 5 in the padding at $(behind spared -5); \
4 bytes are displaced" \
	'an entry that needs the padding before it'
is "$(code_of spared | sed 's/e8 .. .. .. ../e8/; s/0x[0-9a-f]* </</')" ' > 48 83 ec 08 sub rsp, 0x8
 e8 call <plain>
 48 83 c4 08 add rsp, 0x8
 c3 ret' 'displaces what is before a call, whose target has a name'
is "$(code_of loops | sed 's/0x[0-9a-f]* </</')" ' ff cf dec edi
 75 fc jnz <loops>
 b8 01 00 00 00 mov eax, 0x1
 c3 ret' 'of what is refused, nothing is marked'
is "$(head_of loops)" "loops: $(address loops), 10 bytes, plt
  entry: refused: it jumps to its own beginning, which would count as a call" 'and the reason is told'
like "$(head_of calls_pointer)" "^  may displace a call\$" 'remarks are made'
is "$(code_of loops_behind_endbr | sed -n 's/.* <\(.*\)>.*/\1/p')" 'loops_behind_endbr+0x4' 'targets within functions'
is "$(code_of unknown | tail -n 2)" ' 06 .byte 0x06
 06 .byte 0x06' 'bytes that are no instructions are bytes'
is "$(list forms.so plain tiny | grep -c '^[a-z?]*: ')" 2 'several symbols'

# ---- which functions a word names ----
names() {
	list "$@" | sed -n 's/^\([^ :]*\): [0-9a-f]\{16\}, .*/\1/p' | tr '\n' ' '
}
is "$(names forms.so 'by_*')" 'by_table by_pointer by_call by_abort ' 'a pattern names all that match, by address'
is "$(names forms.so "0x$(behind plain 4)")" 'plain ' 'an address names the function that holds it'
is "$(names forms.so "0x$(behind landed 0)" "forms.so+0x$(behind jumps 0)")" 'landed jumps ' \
	'so does one with the name of the file, as traces have it'
nameless=$(list forms.so | awk '$NF == "?" { print $1; exit }')
is "$(names forms.so "forms.so+0x$nameless")" '? ' 'as for those without a name'
is "$(list forms.so '*' | grep -c '^[^ ].*: [0-9a-f]\{16\}, ')" 43 '* names all'
list forms.so no_such 0x1 plain 'no_*such*' >out
is "$? $(grep -c '^plain: ' out) $(cat err)" '1 1 xaudit list: forms.so: no function is named no_such
xaudit list: forms.so: no function is at 0x1
xaudit list: forms.so: no function is named no_*such*' 'a word that names none is told; others are shown'

# Other names of a function, one of them hostile.
cat >aliases.S <<'end'
	.text
	.globl	one
	.type	one, @function
one:	mov	$1, %eax
	ret
	.size	one, . - one
	.globl	two
	.type	two, @function
	.set	two, one
	.globl	"three\033[31m"
	.type	"three\033[31m", @function
	.set	"three\033[31m", one
end
"$CC" -shared -nostdlib -Wl,--build-id=none -o aliases.so aliases.S 2>err || bail "$CC: $(cat err)"
if nm aliases.so | grep -q "$(printf 'three\033')"; then
	is "$(list aliases.so one | sed -n 's/^  also: //p')" 'three?[31m, two' \
		'other names are told, and steer no terminal'
	is "$(list aliases.so "$(printf 'th*\033*')" | head -n 1 | cut -d , -f 2)" ' 6 bytes' 'they name it, too'
else
	skip 2 'the assembler takes no such name'
fi
is "$(names aliases.so two)" 'one ' 'which has one that is shown first'

# ---- as JSON ----
# query EXPRESSION: of the JSON in out.
query() {
	perl -MJSON::PP -0777 -e '
		my $j = JSON::PP->new->utf8->decode(<STDIN>);
		my $r = eval $ARGV[0]; die $@ if $@;
		print ref $r ? JSON::PP->new->canonical->encode($r) : $r, "\n"' "$1" <out
}
list --format=json forms.so spared loops calls_pointer >out
is "$? $(query 'scalar @$j')" '0 3' 'functions are an array'
is "$(query '[sort keys %{$j->[0]}]')" \
	'["address","aliases","entry","instructions","kinds","name","refused","size"]' 'of objects'
is "$(query '[map { $_->{name} } @$j]')" '["spared","loops","calls_pointer"]' 'in the order of the words'
is "$(query '$j->[0]{entry}{form} . $j->[0]{entry}{displaced}')" padding4 'with the form of the entry'
is "$(query '$j->[1]{entry} // "none"')" none 'which a refused one has not'
is "$(query '$j->[1]{refused}{entry}')" 'it jumps to its own beginning, which would count as a call' 'but a reason'
is "$(query '$j->[2]{entry}{remarks}')" '["may displace a call"]' 'and remarks'
is "$(query 'join "", map { $_->{bytes} } @{$j->[0]{instructions}}' | cut -c 1-10)" 4883ec08e8 'bytes'
is "$(query 'join " ", map { $_->{displaced} ? 1 : 0 } @{$j->[0]{instructions}}')" '1 0 0 0' 'and marks'
is "$(query '$j->[0]{instructions}[0]{text}')" 'sub rsp, 0x8' 'and text'
list --format=json forms.so no_such >out
is "$? $(query 'scalar @$j')" '1 0' 'none is an empty array'

# ---- the index that is kept ----
ok 'nothing was kept by all this' test ! -e none
cp forms.so kept.so
mkdir -m 700 none
bounded 60 "$XAUDIT" index -q kept.so
is "$(ls none | grep -c 'index$')" 1 'an index is kept'
list kept.so >new
# Only the index knows that: its file says nothing about symbols any more.
strip -o stripped.so kept.so && cat stripped.so >kept.so || bail strip
list kept.so | grep -c ' by_table$' >out
is "$(cat out)" 1 'the kept index of another version of the file is not used'
list -v forms.so >out
is "$(grep -c '(entry: ' out)" 20 '-v says of each function why it is refused'
list forms.so >out
is "$(grep -c '(entry: ' out)" 0 'which is not said without'
like "$(cat out)" '^entry +23 +23 +53\.5 %$' 'coverage of entry'
like "$(cat out)" '^ +refused 2: it jumps to its own beginning, which would count as a call$' \
	'and its refusals, counted'
done_testing
