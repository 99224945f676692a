#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes of a library that is loaded and unloaded: each is placed in each load, by each way, all their events are
# recorded, in forked children too; the library computes what it must, and nothing is left behind.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/probed_loads.sh"

probed_loads
probes <<'END'
[probe first]
at = probed_jump@libprobed.so
[probe jump]
at = libprobed.so:probed_jump+7
context = reg:rax
[probe loop]
at = libprobed.so:probed_loop+6
[probe ret]
at = libprobed.so:probed_loop+0xd
[probe short]
at = libprobed.so:probed_far+7
[probe far]
at = libprobed.so:probed_far+0xc
[probe inside]
at = libprobed.so:probed_far+1
END

# In each round: calls of three functions, of which one goes around four times.
record d -c rules -- ./probed ./libprobed.so 100 10
is "$status $(echo "$out" | cut -d' ' -f1-3)" '0 3000 0 0' 'with probes, all results are as without'
is "$(counts)" '1000 far,1000 first,1000 jump,4000 loop,1000 ret,1000 short,' \
	'each probe has all its events, in each load'
ok 'nothing is left of loads that are gone' [ "$(echo "$out" | cut -d' ' -f5)" -le 4 ]
is "$(echo "$err" |
	grep -c 'probed_far+1 in libprobed.so: no instruction begins there; the nearest .* is probed_far$')" 1 \
	'a probe that can not be there is said, once, with the nearest place that works'
record e -c rules -- sh -c './probed ./libprobed.so 2 2 2>child.err'
is "$status $(echo "$out" | cut -d' ' -f1-3) $(cat child.err)/$(echo "$err" | cut -d';' -f1)" \
	"0 12 0 0 /xaudit record: nothing that was loaded has the place of probe 'inside'" \
	'a child says nothing where its standard error is not that of record: its parent may read it'
is "$(info e '[.processes[].notes[] | select(startswith("probe inside at libprobed.so:probed_far+1 in libprobed"))] |
	length')" 1 'its trace has the line'
is "$(jq -rs '[.[] | select(.event == "probe" and .probe == "jump") | .values[0].value] | unique | join(" ")' dump)" \
	'0x0 0x12 0x15 0x18 0x1b 0x3 0x6 0x9 0xc 0xf' \
	'values are those of the place: three times the first argument'
record d -c rules -- ./probed ./libprobed.so 3 10 fork
is "$status $(echo "$out" | cut -d' ' -f1-3)" '0 90 0 0' 'children that are forked compute the same'
is "$(counts)" '60 far,60 first,60 jump,240 loop,60 ret,60 short,' 'and have all events of the probes'
# Three thousand, whose rules are more than an argument of a command can have.
cat >many.c <<'END'
void many(void);
__asm__(".globl many\n.type many, @function\nmany:\n"
	".rept 3000\n.byte 0x0f, 0x1f, 0x44, 0, 0\n.endr\nret\n.size many, . - many");
int main(void)
{
	for (int i = 0; i < 3; i++)
		many();
}
END
"${CC%% *}" -o many many.c || bail 'many.c does not compile'
{
	printf '[library *]\nkinds = none\n[program]\nkinds = none\n'
	seq 0 2999 |
		awk '{ printf "[probe a_name_that_is_rather_long_for_a_probe_%d]\nat = many+%d@many\n", $1, 5 * $1 }'
} >many.conf
record m -c "$tmp/many.conf" -- ./many
is "$status $err" '0 ' 'three thousand probes are no trouble'
is "$(bounded 60 "$XAUDIT" report --format=json m | jq -r '.probes | length, ([.[].count] | unique[])' | tr '\n' ' ')" \
	'3000 3 ' 'each of them has its events'
done_testing
