#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Places of probes (xaudit-probes(7)) and what is recorded there: of a file whose addresses nm, and whose instructions
# the test itself, know; of a program's own probes, by notes that the test writes as <sys/sdt.h> does.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
plan_u=$top_builddir/t/values/plan_calls.u
cd "$tmp" || bail 'no scratch folder'
export XDG_CACHE_HOME="$tmp/cache"

# probes RULE...: what the plan of ./prog has of probes, in ./shown; what is said in ./said. A rule is NAME|KEY|VALUE.
probes() {
	for rule; do
		printf 'w\t%s\tprobe %s\t%s\n' "${rule%%|*}" "$(echo "$rule" | cut -d'|' -f2)" "${rule##*|}"
	done >rules
	status=0
	"$XAUDIT" index --values="$(cat rules)" prog >plan 2>said || status=$?
	"$plan_u" plan >shown || bail 'no plan'
}
# at SYMBOL [OFFSET]: as the plan writes an address.
at() {
	printf '0x%x' $((0x$(nm prog | awk -v s="$1" '$3 == s { print $1 }') + ${2:-0}))
}
says() {
	is "$(cat said)" "xaudit: w: $1" "$2"
}

cat >prog.S <<'END2'
	.text
	.globl first, second, main, _ZN2ns3fooEi
	.type first, @function
first:				# 5, 3, 2, 4, 1 bytes
	movl	$1, %eax
	addl	$2, %eax
	je	1f
	leal	1(%rax,%rdi), %eax
	ret
1:	jmp	second
	.size first, . - first
	.type second, @function
second:
	movl	%edi, %eax
	imull	$7, %eax, %eax
	ret
	.size second, . - second
	.type _ZN2ns3fooEi, @function
_ZN2ns3fooEi:
	leaq	variable(%rip), %rax
	movl	$7, %ecx
	ret
	.size _ZN2ns3fooEi, . - _ZN2ns3fooEi
	.type main, @function
main:
	pushq	%rbx
	movl	$5, %edi
	movl	$5, %ebx
.Lone:	nop
	call	second
.Ltwo:	nop
	popq	%rbx
	xorl	%eax, %eax
	ret
	.size main, . - main

	.macro NOTE at, base, semaphore, provider, name, arguments
	.pushsection .note.stapsdt, "", "note"
	.balign	4
	.4byte	8, 12f - 11f, 3
	.asciz	"stapsdt"
11:	.8byte	\at, \base, \semaphore
	.asciz	"\provider"
	.asciz	"\name"
	.asciz	"\arguments"
12:	.balign	4
	.popsection
	.endm
	NOTE .Lone, _.stapsdt.base, counter, prov, one, "4@%edi -4@$-5 8@variable(%rip)"
	NOTE .Ltwo, _.stapsdt.base, 0, prov, two, "4@%eax 4@%st"
	NOTE .Ltwo+1, _.stapsdt.base, 0, prov, one, ""
	/* Sections were moved by 0x100 since. */
	NOTE .Ltwo-0x100+2, _.stapsdt.base-0x100, counter-0x100, other, moved, "8@%rbx"
	.section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
	.weak	_.stapsdt.base
	.hidden	_.stapsdt.base
_.stapsdt.base:
	.space	1
	.size	_.stapsdt.base, 1
	.section .probes, "aw"
counter:
	.2byte	0
	.size	counter, 2
	.data
	.globl	variable
	.type	variable, @object
variable:
	.8byte	77
	.size	variable, 8
	.section .note.GNU-stack, "", @progbits
END2
$CC -o prog prog.S || bail 'no program'

# ---- places ----
probes 'A|at|second' 'B|at|second+2@prog' 'C|at|prog:second+05' "D|at|$(at first 0x5)@prog"
is "$(sort shown)" "probe A at second $(at second) placed
probe B at second+2@prog $(at second 2) placed
probe C at prog:second+05 $(at second 5) placed
probe D at $(at first 5)@prog $(at first 5) placed" 'symbols, offsets and addresses, with the file behind or in front'
probes 'A|at|first%return' 'A|context|ret'
is "$(cat shown)" "probe A at first%return $(at first 14) placed has: ret=signed8,o0" \
	'each ret of a function, and what comes back'
says "'first%return': first also ends by 1 jump to other functions (second); these are no returns of its own" \
	'that a function ends by a jump is said'
probes 'A|at|ns::foo+7' 'B|at|_ZN2ns3fooEi'
is "$(cat shown)" "probe B at _ZN2ns3fooEi $(at _ZN2ns3fooEi) placed
probe A at ns::foo+7 $(at _ZN2ns3fooEi 7) placed" 'names of C++, as people and as linkers have them'
probes 'A|at|0x1@prog' 'A|at|first+1' 'B|at|second' 'B|at|prog:second+0'
is "$(sort shown)" "probe A at 0x1@prog 0x1 refused 1
probe A at first+1 $(at first 1) refused 2
probe B at prog:second+0 $(at second) refused 25
probe B at second $(at second) placed" \
	'no code, no beginning of an instruction, and a place that the probe has already are refused'
probes 'Z|at|second' 'B|at|second' "A|at|$(at second)@prog" 'A|at|second+2' 'A|context|tid'
is "$(cat shown)" "probe Z at second $(at second) placed
probe B at second $(at second) placed
probe A at $(at second)@prog $(at second) placed has: tid=signed4,o0
probe A at second+2 $(at second 2) placed has: tid=signed4,o0" \
	'probes of different names have one place together, in the order of the rules'
set --
for n in 01 02 03 04 05 06 07 08 09 10 11 12 13 14; do
	set -- "$@" "p$n|at|second"
done
probes "$@"
is "$(grep -c placed shown) $(grep -c 'refused 17' shown)" '12 2' 'twelve of them'
is "$(sed -n 's/probe \(.*\) at.*refused.*/\1/p' shown | sort | tr '\n' ' ')" 'p13 p14 ' 'the last ones are refused'
probes 'A|at|nosuch' 'B|at|0x1234' 'C|at|main@libother.so' 'D|at|usdt:nosuch:x' 'E|at|foo.c:1'
is "$(cat shown said)" '' 'what another file may have is no matter here'
probes 'A|at|seconf@prog'
says "'seconf@prog': no function of prog has this name; is it 'second'? \`xaudit list prog\` shows those that there \
are" \
	'a function that the file should have'
probes 'A|at|second+0x20@prog'
says "'second+0x20@prog': second has 6 (0x6) bytes in prog; \`xaudit list prog second\` shows its instructions" \
	'an offset behind the function'
probes 'A|at|foo.c:12@prog'
says "'foo.c:12@prog': prog has no debug information, so its lines are not known; install it, or name an address" \
	'a line of a file without debug information'
for wrong in "second+|'' in 'second+' is no number; offsets are octal (0NNN), decimal or hexadecimal (0xNNN)" \
	"second+08|'08' in 'second+08' is no number; offsets are octal (0NNN), decimal or hexadecimal (0xNNN)" \
	"f+0x10000000000000000|'0x10000000000000000' in 'f+0x10000000000000000' is too large; offsets have 64 bits" \
	"18446744073709551616|'18446744073709551616' in '18446744073709551616' is too large; addresses have 64 bits" \
	"12x|'12x' in '12x' is no number; addresses are octal (0NNN), decimal or hexadecimal (0xNNN)" \
	"second@|no library stands behind '@' in 'second@'" \
	"usdt:prov|'usdt:prov' is not usdt:PROVIDER:NAME, as in usdt:python:line" \
	"a.so:b@c|'a.so:b@c' names two libraries, 'a.so' and 'c'; allowed: one" \
	"f(int)|no function has the name 'f(int)': leave out parameters and template arguments, it stands for all \
overloads and instances"; do
	probes "A|at|${wrong%%|*}"
	says "${wrong#*|}" "what is wrong with ${wrong%%|*} is said"
done
$CC -x c -static -nostdlib -no-pie -o fixed - <<'END2' || bail 'no program'
void _start(void) { __asm__("nop; movl $60,%eax; xorl %edi,%edi; syscall"); }
END2
address=0x$(nm fixed | awk '$3 == "_start" { print $1 }')
"$XAUDIT" index --values="$(printf 'w\tA\tprobe at\t%s' "$address")" fixed >plan || bail 'no plan'
is "$("$plan_u" plan | cut -d' ' -f1-6)" "probe A at $address $(printf 0x%x $((address))) placed" \
	'a bare address, of a program at addresses of its own'

# ---- lines ----
cat >lines.c <<'END2'
static inline __attribute__((always_inline)) int twice(int x)
{
	return x * 2 + x / 3;
}
__attribute__((noinline)) int f(int a, const char *t)
{
	return a > 3 ? twice(a) + (int)t[0] : a;
}
__attribute__((noinline)) int g(int a) { return twice(a + 1) - 4; }
int main(int c, char **v) { return f(c, v[0]) + g(c); }
END2
$CC -g -O2 -o lines lines.c || bail 'no program'
in_lines() {
	"$XAUDIT" index --values="$(printf "$1")" lines >plan 2>said
	"$plan_u" plan >shown || bail 'no plan'
}
in_lines 'w\tA\tprobe at\tlines.c:3\n'
# holder ADDRESS: the function that it lies in.
holder() {
	nm -n lines | awk -v a="$(printf %016x "$1")" '$1 <= a && $2 ~ /[tT]/ { name = $3 } END { print name }'
}
is "$(while read -r _ _ _ place address _; do echo "$place $(holder "$address")"; done <shown | sort)" \
	'lines.c:3 f
lines.c:3 g' 'a line that was inlined twice has two places, one in each function'
in_lines 'w\tA\tprobe at\t./lines.c:3\n'
is "$(grep -c placed shown)" 2 'the file may be named as one of the current folder'
in_lines 'w\tA\tprobe at\tlines.c:2\n'
like "$(cat said)" "'lines.c:2': no statement of that line begins in lines; line" \
	'a line without code is told, with the nearest ones'
cp lines stripped && strip -s stripped || bail 'no strip'
"$XAUDIT" index --values="$(printf 'w\tA\tprobe at\t*%%return@stripped')" stripped >plan 2>said
like "$(cat said)" "'\*%return@stripped': the function at 0x[0-9a-f]* has no instruction that returns in stripped" \
	'a function without a name is told by its address'
in_lines 'w\tA\tprobe at\tother.c:3\n'
is "$(cat shown said)" '' 'another source is no matter'
in_lines 'w\tA\tprobe at\tf\nw\tA\tprobe context\targs\nw\tB\tprobe at\tg%%return\nw\tB\tprobe context\tretval\n'
is "$(sed 's/0x[0-9a-f]* //' shown | sort -u)" 'probe A at f placed has: a=signed4,o0 t=text0,o0
probe B at g%return placed has: ret=signed4,o0' \
	'arguments where a function begins, and results where it returns, are typed'

# ---- the program's own ----
probes 'A|at|usdt:prov:one'
is "$(cat shown)" "probe A at usdt:prov:one $(at main 11) placed semaphore $(at counter) has: arg1=unsigned4,o0 \
arg2=signed4,o0 arg3=unsigned8,o0
probe A at usdt:prov:one $(at main 18) placed" \
	'all sites of a probe of the program, with its semaphore and its arguments'
probes 'A|at|usdt:prov:two'
like "$(cat shown)" " has: arg1=unsigned4,o0\$" 'an argument that is kept nowhere is left out'
probes 'A|at|usdt:prov:two' 'A|context|arg2'
like "$(cat said)" "^xaudit: w: this probe has no context 'arg2'" 'who asks for it is told'
probes 'A|at|usdt:prov:two' 'A|context|none'
is "$(cat shown)" "probe A at usdt:prov:two $(at main 17) placed" 'none asks for no values'
probes 'A|at|usdt:*:moved'
is "$(cat shown)" "probe A at usdt:*:moved $(at main 19) placed semaphore $(at counter) has: arg1=unsigned8,o0" \
	'addresses go with the section that tells where all was'
probes 'A|at|usdt:prov:onee'
like "$(cat said)" "provider 'prov' has no probe of that name in prog; is it 'one'" 'a name that the provider has not'
is "$("$XAUDIT" list --usdt prog)" "prog: 4 probes of its own

provider  name   address           semaphore         arguments
other     moved  $(printf %016x "$(at main 19)")  $(printf %016x "$(at counter)")  8@%rbx
prov      one    $(printf %016x "$(at main 11)")  $(printf %016x "$(at counter)")  4@%edi -4@\$-5 8@variable(%rip)
prov      one    $(printf %016x "$(at main 18)")  -                 -
prov      two    $(printf %016x "$(at main 17)")  -                 4@%eax 4@%st" 'list --usdt shows them'
is "$("$XAUDIT" list --usdt --format=json lines)" '[]' 'as json, of a file without them'

# ---- what is asked there ----
probes 'A|at|second' 'A|context|regs,tid' 'A|if|arg1 > 3' 'A|every|7' 'A|then|stop thread once at-most 10s'
like "$(cat shown)" " has: rax=hex8,o0 rbx=hex8,o0 .* r15=hex8,o0 tid=signed4,o0 every 7 then stop flags 3 every 0 \
at-most 10000000000\$" \
	'values, a condition and an action'
probes 'A|at|second+2' 'A|context|args'
says "args are where a function begins, and at usdt:PROVIDER:NAME, not at 'second+2'" 'arguments within a function'
probes 'A|at|second' 'A|context|retval'
says "retval is known where a function returns (SYMBOL%return), not at 'second'" 'a result that is not there yet'
probes 'A|at|second' 'A|then|explode'
says "no action is called 'explode'; allowed: mark, snapshot, start, stop, start thread, stop thread; behind it \
if CONDITION, longer TIME, running longer TIME, every N, once, at-most TIME, as NAME" 'an action that is none'

# ---- options ----
record() {
	end=0
	"$XAUDIT" record "$@" >out 2>said || end=$?
}
cat >rules.sh <<'END2'
echo "$XAUDIT_RULES" | sed -n '/^\[library/,$p'
END2
record --probe second+2@prog --context 'regs,if=arg1>3' sh rules.sh
is "$(cat out)" '[library *]
kinds = none
[program]
kinds = none
[probe second+2@prog]
at = second+2@prog
context = regs
if = arg1>3' '--probe alone has nothing else traced; a context is for what is named before it'
record --context tid --probe N=main+4 --probe N=first --probe M=a.c:5 --context M:arg1,then=mark -F g sh rules.sh
is "$(sed -n '/context \*/,$p' out)" '[context *]
context = tid
[probe N]
at = main+4
at = first
[probe M]
at = a.c:5
context = arg1
then = mark' 'one before all probes is for functions, one with a name for that probe alone'
printf '[library liby*]\n' >other.conf
record -c other.conf --probe first --context tid -F g sh rules.sh
is "$(sed -n '/^\[probe/,$p' out)" '[probe first]
at = first
context = tid
[context *]
context = tid' 'one behind a probe is for functions of the line, too'
record --function G=main --function "$(at second)@prog" --context G:tid ./prog
is "$end/$(cat said)" '0/' 'functions by names and by addresses'
record --function second+2 ./prog
is "$end/$(cat said)" "125/xaudit record: --function second+2: no function with a name begins at $(at second 2) in \
./prog; --probe takes any instruction" 'where no function begins'
record --function 'first%return' ./prog
is "$end/$(cat said)" "125/xaudit record: --function first%return: that is no function's beginning; --probe is for it" \
	'a place that is no function'
record --probe second+ ./prog
like "$end/$(cat said)" "^125/xaudit record: --probe second[+]: '' in 'second[+]' is no number" 'a wrong place is told'
record --probe second+2 --context ret ./prog
like "$end/$(cat said)" "^125/xaudit: record: --context ret: this probe has no context 'ret'" 'and what it can not have'
record --probe X=second --context X:longer=1ms ./prog
is "$end/$(cat said)" "125/xaudit: record: --context X:longer=1ms: unknown key 'longer'; allowed for a probe: at, \
context, if, every, then" 'a key that only calls have'
record --probe nosuch ./prog
is "$end/$(cat said)" "0/xaudit record: nothing that was loaded has the place of probe 'nosuch'; or it can't have a \
probe, as \`xaudit info\` tells; \`xaudit list FILE\` shows what a file has" 'a probe that nothing has'
# Of what can't be had the trace has the line, also where the program's standard error is read by nobody: there was no
# folder yet when the program was loaded.
record --probe second+1 --probe 0x0@prog --probe second+0x20@prog sh -c './prog 2>program.err; :'
is "$("$XAUDIT" info xaudit.data | sed -n 's/^  Note  *//p' | LC_ALL=C sort)" \
	"command line: 'second+0x20@prog': second has 6 (0x6) bytes in prog; \`xaudit list $tmp/prog second\` shows \
its instructions
probe 0x0@prog at 0x0@prog in prog: there is no code at this address
probe second+1 at second+1 in prog: no instruction begins there; the nearest place that works is second" \
	'info tells why a probe can not be had'
is "$(cat program.err)" '' 'what somebody may read of the program has none of it'
is "$end/$(grep -c 'no instruction begins' said)" '0/0' 'which is said in the trace alone then'
record --probe X=second --context 'X:if=nothing>2' ./prog
is "$(cat said)" "xaudit: command line: no symbol 'nothing' is known
xaudit: probe X at second in prog: what its condition asks for can't be had there
xaudit record: nothing that was loaded has the place of probe 'X'; or it can't have a probe, as \`xaudit info\` tells; \
\`xaudit list FILE\` shows what a file has" 'a condition that can not be had'
record --start-disabled -F first --probe second+2 ./prog
is "$("$XAUDIT" dump xaudit.data | awk '$3 == "entry" || $3 == "probe" { print $3 }' | sort | uniq -c |
	awk '{ print $1, $2 }')" '1 probe' 'where functions are switched off at first, probes are on'
printf '[probe a b]\nat = second+\n' >wrong.conf
record -c wrong.conf ./prog
is "$end/$(cat said)" "125/xaudit: $tmp/wrong.conf:2: '' in 'second+' is no number; offsets are octal (0NNN), decimal \
or hexadecimal (0xNNN)" 'mistakes of a configuration are told with their lines'
printf '[probe a b]\ncontext = regs\n' >wrong.conf
record -c wrong.conf ./prog
is "$end/$(cat said)" "125/xaudit: $tmp/wrong.conf:2: probe 'a b' has no place; it needs a key at, as in \
at = main+0x10" \
	'one without a place, too'

done_testing
