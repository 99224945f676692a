#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions that nothing was prepared for are traced by displaced entries: in each form, with names and without,
# switched while they run, loaded again, in children and threads, in each mode; and left alone where that is right.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

api="-I$top_srcdir -I$top_srcdir/runtime/api $top_builddir/libxaudit-api.a"
program "$CC" entry entry.c $api
library "$CC" libentry.so entry_library.S -nostdlib -Wl,-Bsymbolic,--build-id
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

# config KEYS [LIBRARY [KEYS]]: writes the configuration; [trace] has the keys.
config() {
	printf '[trace]\n%s\n[library %s]\nkinds = entry\n%s\n' "$1" "${2:-libentry*}" "${3:-}" >conf
}
# run LIBRARY WORD...: records ./entry by the configuration; sets $said, with ; between lines, and $report.
run() {
	library=$1
	shift
	record d -c conf ./entry "./$library" "$@"
	said=$(printf '%s' "$out" | tr '\n' ';')$err
	report d
}
# reasons LIBRARY: "COUNT REASON" of kind entry, from info.
reasons() {
	bounded 60 "$XAUDIT" info d 2>&1 | sed -n "\\,/$1 ,,/^    \\//{s/^ *entry  *//p;}" | sed 's/  */ /' | sort
}
# all N [ALONE]: what the rows are after N rounds.
all() {
	echo "entry_all 1, entry_alone $1, entry_calls $1, entry_hidden $1, entry_landed $1, entry_plain $((2 * $1))," \
		"entry_pushes $1, entry_short $1, entry_short_landed $1"
}

config ''
# No index is made by the way.
XAUDIT_COMMAND=
export XAUDIT_COMMAND
run libentry.so 10
is "$out" 1270 'without an index nothing is traced'
is "$(reasons libentry.so)" "1 no index of the file: \`xaudit index FILE\` makes one" 'and info says why' ||
	diag "$(bounded 60 "$XAUDIT" info d)"

index_of libentry.so
run libentry.so 10 same text
is "$said" '1270;same;private' 'a traced library does what it does, and dlsym() tells its own addresses'
is "$(rows), $(sums)" "$(all 10), 0 lost 0 unfinished" 'each call counts, in each form'
is "$(reasons libentry.so)" '1 it jumps to its own beginning, which would count as a call
1 traced at the entry only: the return must not be intercepted
8 traced' 'what is refused has its reason'
dump d
# By order of the calls within the one of entry_all; what looks at its return address has an entry alone.
is "$(jq -rn '[inputs | select(.function) | "\(.event) \(.function)"] | .[1:19] | join(",")' d.json)" \
	"entry entry_plain,exit entry_plain,entry entry_landed,exit entry_landed,entry entry_short,exit entry_short,\
entry entry_short_landed,exit entry_short_landed,entry entry_calls,entry entry_plain,exit entry_plain,\
exit entry_calls,entry entry_pushes,exit entry_pushes,entry entry_alone,entry entry_hidden,exit entry_hidden,\
entry entry_plain" \
	'entries and returns come in their order, through a displaced call, too' || diag "$(head -n 20 d.json)"

# Loaded at the start, and later; where addresses are limited, too.
calls='1270;e9 ff 54 24 f8;off entry_calls: 0, 1 functions, 1 changed, 0 already, 0 refused;1270;e9 ff 54 24 f8'
record d -c conf env LD_PRELOAD="$tmp/libentry.so" ./entry ./libentry.so 10 call off:entry_calls 10 call
said=$(printf '%s' "$out" | tr '\n' ';')
is "$said" "$calls" 'behind the jump another call stands, and stays'
report d
is "$(calls entry_calls) $(calls entry_plain) $(calls entry_pushes)" '10 40 20' 'and the function is traced as ever'
printf '[library libc.so.6]\nkinds = plt\nfunctions = strchr\n' >>conf
run libentry.so 10 call off:entry_calls 10 call
is "$said" "$calls" 'in a library that is opened later, too'
is "$(calls entry_calls) $(calls strchr)" '10 5' 'while the trace is written'
record d -c conf sh -c 'ulimit -v 200000; exec ./entry "$@"' sh ./libentry.so 10 call off:entry_calls 10 call \
	on:entry_calls 10
said=$(printf '%s' "$out" | tr '\n' ';')$err
report d
is "$said" "$calls;on entry_calls: 0, 1 functions, 1 changed, 0 already, 0 refused;1270" \
	'and in a program that may have 200 MB of addresses'
is "$(rows | grep -o 'entry_calls [0-9]*'), $(sums)" 'entry_calls 20, 0 lost 0 unfinished' 'each call counts there'

# It has the same build-id, and the same content.
strip -o libstripped.so libentry.so
XAUDIT_INDEX=$tmp/stripped
index_of libstripped.so
config '' libstripped.so
run libstripped.so 3
is "$said" 381 'a stripped library does what it does'
hidden=$(nm libentry.so | sed -n 's/^0*\([0-9a-f]*\) t entry_hidden$/\1/p')
is "$(rows)" "$(all 3 | sed "s/entry_hidden 3, //"), libstripped.so+0x$hidden 3" \
	'a function without a name is traced and called by its place'
XAUDIT_INDEX=$tmp/cache

config '' 'libentry*' 'functions = entry_pl* entry_hidden entry_loop
exclude = entry_plain'
run libentry.so 5
is "$(rows)" 'entry_hidden 5' 'rules choose functions by name'
is "$(reasons libentry.so)" '1 it jumps to its own beginning, which would count as a call
1 traced
8 not selected by the rules' 'only what is selected is counted as refused'

# ---- switching ----
config ''
run libentry.so 10 off:entry_plain 10 on:entry_plain 100 'off:entry:*' 10 text 'on:*' 10
is "$said" "1270;off entry_plain: 0, 1 functions, 1 changed, 0 already, 0 refused;1270;\
on entry_plain: 0, 1 functions, 1 changed, 0 already, 0 refused;12700;\
off entry:*: 0, 9 functions, 9 changed, 0 already, 0 refused;1270;private;\
on *: 0, 9 functions, 9 changed, 0 already, 0 refused;1270" 'functions are switched off and on from inside'
is "$(rows)" "entry_all 4, entry_alone 130, entry_calls 130, entry_hidden 130, entry_landed 130, entry_plain 240, \
entry_pushes 130, entry_short 130, entry_short_landed 130" 'and only what was on is counted'
run libentry.so spin:500
is "$said" 'wrong 0' 'also while threads call them'
config 'enabled = no'
run libentry.so 10 on:entry_short 1 on:entry_short off:entry_short 10 reload 1
is "$said" "1270;on entry_short: 0, 1 functions, 1 changed, 0 already, 0 refused;127;\
on entry_short: 0, 1 functions, 0 changed, 1 already, 0 refused;\
off entry_short: 0, 1 functions, 1 changed, 0 already, 0 refused;1270;127" 'enabled = no: they are displaced, and off'
is "$(rows)" 'entry_short 1' 'until they are switched on'
config 'prepare = none'
run libentry.so text on:entry_short 10 reload text 3
is "$said" "shared;on entry_short: 0, 1 functions, 0 changed, 0 already, 1 refused;1270;private;381" \
	'prepare = none: the text stays the file'"'"'s, and can'"'"'t be changed from inside'
is "$(rows)" 'entry_short 3' 'but in the next load it is as asked'
is "$(reasons libentry.so | grep -c displaced)" 0 'and is counted so then'
config 'prepare = all' 'libentry*' 'functions = entry_plain'
run libentry.so 10 on:entry_short off:entry_plain 5
is "$(rows)" 'entry_plain 20, entry_short 5' 'prepare = all: what is not selected can be switched on'

# ---- loads, children, threads ----
config ''
run libentry.so 1 reload 1 off:entry_plain reload 1 on:entry_plain reload 1
is "$said" "127;127;off entry_plain: 0, 1 functions, 1 changed, 0 already, 0 refused;127;\
on entry_plain: 0, 1 functions, 1 changed, 0 already, 0 refused;127" 'a library that is loaded again'
is "$(rows)" "entry_all 4, entry_alone 4, entry_calls 4, entry_hidden 4, entry_landed 4, entry_plain 6, \
entry_pushes 4, entry_short 4, entry_short_landed 4" 'counts go on, by what was asked'
run libentry.so fork:10 thread:20 many:50
is "$said" 'child 1270;thread 2540;many 6350' 'a child and threads'
is "$(rows)" "entry_all 52, entry_alone 80, entry_calls 80, entry_hidden 80, entry_landed 80, entry_plain 160, \
entry_pushes 80, entry_short 80, entry_short_landed 80" 'count as they should'

# What the module calls in the program's libc is no call of the program's; and a thread stays one to its very end.
config '' libc.so.6
record d -c conf ./entry ./libentry.so many:200
is "$out" 'many 25400' 'all of libc is traced: threads'
report d
is "$(calls pthread_create | grep -c '^200$') $(rows | grep -c setspecific) $(sums)" '1 0 0 lost 0 unfinished' \
	'what they call counts, and what we call in them does not'
is "$(info d '[.processes[].threads]')" '[201]' 'each thread is one'

# ---- modes and limits ----
config 'mode = count'
run libentry.so 1000
is "$said/$(rows)" "127000/$(all 1000)" 'mode count'
config 'mode = ring
ring = 256k'
run libentry.so 1000
is "$said/$(calls entry_calls)" '127000/1000' 'mode ring'
config 'clock = monotonic'
run libentry.so 10
is "$said/$(rows)" "1270/$(all 10)" 'the other clock'
config 'depth = 1'
run libentry.so 10
is "$said/$(rows)" '1270/entry_all 1' 'depth'
config 'below = entry_calls'
run libentry.so 10
is "$said/$(rows)" '1270/entry_calls 10, entry_plain 10' 'below'
config 'time = 100ms'
run libentry.so 10
is "$said/$(rows | grep -c entry_plain)" 1270/0 'time'

# ---- where the processor checks returns ----
# strace answers what the module asks about that, after the dynamic linker has set %fs.
config ''
asked='s/^arch_prctl(\(ARCH_SET_FS\|0x5005\|ARCH_SHSTK_STATUS\)[, ].*/\1/p'
if ! strace -o asks -e trace=arch_prctl -e inject=arch_prctl:poke_exit=@arg2=00:when=9999 -E LD_AUDIT="$MODULE" \
	-E XAUDIT_CONFIG=conf ./entry ./libentry.so 1 >/dev/null 2>&1 ||
	[ "$(sed -n "$asked" asks | sed 's/ARCH_SHSTK_STATUS/0x5005/' | head -n 2 | xargs)" != \
		'ARCH_SET_FS 0x5005' ]; then
	skip 4 'no strace that answers instead of the kernel'
else
	record d -c conf strace -o asks -e trace=arch_prctl \
		-e inject=arch_prctl:retval=0:poke_exit=@arg2=0100000000000000:when=2+ ./entry ./libentry.so 10
	report d
	is "$status/$out" 0/1270 'a shadow stack: the library does what it does'
	is "$(rows)" "$(all 10 | sed 's/entry_pushes 10, //')" \
		'all is traced but what may begin by a displaced call'
	like "$(reasons libentry.so)" '^1 a call would be displaced, and the processor checks returns ' 'info says why'
	like "$("$XAUDIT" report d)" '^81 calls were traced at the entry only' 'and no return is intercepted'
fi

# ---- beside other kinds ----
printf '[library libentry*]\nkinds = entry plt\n' >conf
run libentry.so 10 same
is "$said/$(rows)" "1270;same/$(all 10)" 'what both could trace counts once'
library "$CC" libplugin.so plugin.c -DNAME=one -fpatchable-function-entry=5
program "$CC" reload reload.c
index_of libplugin.so
record d -k entry,patchable -l libplugin.so -F 'one_*' ./reload 20 5 ./libplugin.so:one
report d
is "$(rows)" 'one_begin 20, one_end 20, one_inner 100, one_work 100' 'a function with a sled keeps that'
is "$(object d libplugin.so '.patched_pages')$(reasons libplugin.so | grep -c '[0-9] traced')" \
	"$(object d libplugin.so '.patched_pages')0" 'and is none of kind entry'

# ---- flags ----
library "$CC" libcarry.so entry_carry.S -nostdlib -Wl,-Bsymbolic,--build-id
program "$CC" entry_carry entry_carry.c -L. -lcarry
carried=
for how in '' '-m count' '-m ring --ring=256k' '-D 1' '-t 10ms' '-C entry_carry' '--clock monotonic' '--clock coarse' \
	'--start-disabled --prepare=all'; do
	# shellcheck disable=SC2086
	record d -b 64k $how -k entry -l libcarry.so ./entry_carry
	carried="$carried$out"
	[ "$how" ] || report d
	[ "$how" ] || called=$(calls entry_carry)
done
is "$carried $called" '000000000 100000' 'a function finds no carry that its caller did not leave, in each mode'

# ---- what is not believed ----
config ''
# The first byte of entry_plain, push %rbp, becomes a NOP, and the pop, too: the same build-id, other bytes.
offset=$(nm libentry.so | sed -n 's/^0*\([0-9a-f]*\) T entry_plain$/\1/p')
mkdir -p changed
cp libentry.so changed/libentry.so
printf '\220' | dd of=changed/libentry.so bs=1 seek=$((0x$offset)) conv=notrunc 2>/dev/null
printf '\220\220\220' | dd of=changed/libentry.so bs=1 seek=$((0x$offset + 1)) conv=notrunc 2>/dev/null
printf '\220' | dd of=changed/libentry.so bs=1 seek=$((0x$offset + 12)) conv=notrunc 2>/dev/null
run changed/libentry.so 10
is "$out" 1270 'a library of the same build-id does what it does'
is "$(reasons libentry.so)" "1 no index of the file: \`xaudit index FILE\` makes one" \
	'and does not have the other'"'"'s index'
# A stamp that is wrong.
cp "cache/$(stamp_name libentry.so)" "cache/$(stamp_name changed/libentry.so)"
run changed/libentry.so 10
is "$said" 1270 'a library whose bytes are not the index'"'"'s does what it does'
is "$(rows)" "$(all 10 | sed 's/entry_plain 20, //')" 'the function that differs is left alone'
is "$(reasons libentry.so | grep bytes)" '1 the bytes in memory are not those that the index has' 'and counted so'
chmod go+w cache/*.index
run libentry.so 10
is "$out" 1270 'an index that others may write to is not believed'
is "$(reasons libentry.so)" "1 its index is somebody else's, or others may write to it" 'and info says so'
chmod go-w cache/*.index
for file in cache/*.index; do
	# One of these is not what is there.
	printf 'xy' | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
done
run libentry.so 10
is "$out" 1270 'nor a damaged one'
is "$(reasons libentry.so)" "1 its index is damaged, or another file's" 'and info says so'
done_testing
