#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes of a program from its start: how often each is reached is known, and what is recorded there is what the program
# prints.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
cd "$tmp" || bail 'no scratch folder'
export XDG_CACHE_HOME="$tmp/cache"

cat >prog.c <<'END2'
#include <stdio.h>

static inline __attribute__((always_inline)) int twice(int x)
{
	__asm__ volatile("" : "+r"(x)); /* line 5, behind a branch, whatever the compiler can do */
	return x * 2 + x / 3;
}

__attribute__((noinline)) int f(int a, long *sum)
{
	int r = a * 3;
	if (r & 1)
		r = twice(r);
	*sum += r;
	return r;
}

/* A probe as <sys/sdt.h> makes it, with a semaphore. */
unsigned short counter __attribute__((section(".probes")));

__attribute__((noinline)) void own(long n, int small)
{
	__asm__ volatile("990: nop\n"
			 "	.pushsection .note.stapsdt, \"\", \"note\"\n"
			 "	.balign 4\n"
			 "	.4byte 8, 992f - 991f, 3\n"
			 "	.asciz \"stapsdt\"\n"
			 "991:	.8byte 990b, _.stapsdt.base, counter\n"
			 "	.asciz \"prov\"\n"
			 "	.asciz \"item\"\n"
			 "	.asciz \"-8@%0 -4@%1\"\n"
			 "992:	.balign 4\n"
			 "	.popsection\n"
			 "	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
			 "	.weak _.stapsdt.base\n"
			 "	.hidden _.stapsdt.base\n"
			 "_.stapsdt.base: .space 1\n"
			 "	.size _.stapsdt.base, 1\n"
			 "	.popsection\n" : : "nor"(n), "nor"(small));
}

int main(void)
{
	long sum = 0;
	for (int i = 0; i < 100; i++) {
		int r = f(i, &sum);
		own(sum, -i);
		printf("%d %d %ld\n", i, r, sum);
	}
	printf("listeners %d\n", counter);
	return 0;
}
END2
$CC -g -O2 -fno-pie -no-pie -o prog prog.c || bail 'no program'

# record OPTION...: the trace's lines of probes in ./lines; what the program prints in ./out.
record() {
	rm -rf xaudit.data*
	bounded 60 "$XAUDIT" record "$@" -- ./prog >out 2>said || diag "$(cat said)"
	"$XAUDIT" dump --no-pager 2>/dev/null | awk '$3 == "probe"' >lines
}
# names: how many lines each probe has.
names() {
	sed 's/.*  probe  *0x[0-9a-f]*  //; s/[ (].*//' lines | sort | uniq -c | sed 's/^ *//' | tr '\n' ' '
}

record --probe begin=f --probe 'end=f%return' --probe line=prog.c:5 --context begin:arg1 --context end:int:r:ret
is "$(cat said)" '' 'nothing is said'
like "$(names)" '^100 begin 100 end 50 line $' 'each is reached as often as the program comes there'
is "$(sed -n 's/.*begin(arg1=\([0-9]*\)).*/\1/p' lines)" "$(sed -n '/listeners/!s/ .*//p' out)" \
	'the argument where the function begins is what was printed'
is "$(sed -n 's/.*end(r=\([0-9]*\)).*/\1/p' lines)" "$(sed -n '/listeners/!s/^[0-9]* \([0-9]*\) .*/\1/p' out)" \
	'what comes back where it returns, too'
is "$(tail -1 out)" 'listeners 0' 'no semaphore is raised for these'
record --probe some=f --context some:arg1,if='arg1>=90' --probe few=f+3 --context few:every=10
is "$("$XAUDIT" dump --no-pager 2>/dev/null | sed -n 's/.*some(arg1=\([0-9]*\)).*/\1/p' | tr '\n' ' ')" \
	'90 91 92 93 94 95 96 97 98 99 ' 'a condition on an argument'
record --probe usdt:prov:item
is "$(sed -n 's/.*usdt:prov:item(arg1=\(-*[0-9]*\), arg2=\(-*[0-9]*\)).*/\1 \2/p' lines)" \
	"$(awk '/listeners/ { next } { print $3, -$1 }' out)" \
	'the arguments of a probe of its own are what was printed'
is "$(tail -1 out)" 'listeners 1' 'its semaphore is raised while the probe is there'
record --probe "0x$(nm prog | awk '$3 == "f" { print $1 }')" --context 'long:s:+0(%rsi)'
is "$(sed -n 's/.*(s=\([0-9]*\)).*/\1/p' lines | tail -n +2)" "$(sed -n '/listeners/!s/.* //p' out | head -n 99)" \
	'memory by a register, at a bare address'
cat >c.conf <<'END2'
[probe from file]
at = f
context = regs backtrace:2
END2
record -c c.conf --probe other=main
like "$(sed 's/.*  probe  *0x[0-9a-f]*  //; s/(.*//; s/  .*//' lines | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
	'^ 100 from file; 1 other;$' 'probes of a configuration and of the line'

# ---- several at one place ----
f=0x$(nm prog | awk '$3 == "f" { print $1 }')
record --probe begin=f --context begin:arg1 --probe "again=$f" --context 'again:long:s:+0(%rsi)' \
	--probe zero=f --context 'zero:if=arg1 < 1' --probe line=prog.c:5 --probe 'f%return'
is "$(cat said)" '' 'several probes at one place are no mistake'
like "$(names)" '^100 again 100 begin 100 f%return 50 line 1 zero $' 'each has all its events, and its own condition'
is "$(sed -n 's/.*  probe  *0x[0-9a-f]*  //; s/ *(.*//; s/  .*//; /^[abz]/p' lines | head -n 5 | tr '\n' ' ')" \
	'begin again zero begin again ' 'in the order in which they were asked for'
is "$(sed -n 's/.*begin(arg1=\([0-9]*\)).*/\1/p' lines)" "$(sed -n '/listeners/!s/ .*//p' out)" \
	'with the values of the one'
is "$(sed -n 's/.*again(s=\([0-9]*\)).*/\1/p' lines | tail -n +2)" \
	"$(sed -n '/listeners/!s/.* //p' out | head -n 99)" 'and those of the other'
item=$("$XAUDIT" list --usdt --format=json prog | jq -r '.[0].address')
record --probe usdt:prov:item --probe "item=$item" --probe two=usdt:prov:item --context two:none
like "$(names)" '^100 item 100 two 100 usdt:prov:item $' 'a probe of its own by two names, and by its address'
is "$(tail -1 out)" 'listeners 2' 'whose semaphore counts the two that ask for it'
record --probe p=f --probe "p=$f" --probe q=f
is "$(cat said)" "xaudit: probe p at $f in prog: the probe has this address already" \
	'one that has a place twice is told'
like "$(names)" '^100 p 100 q $' 'and has one event there'

# ---- what is said ----
why="no instruction begins there; the nearest place that works is f"
set -- --probe q=f+1 --probe q=f+2
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
	set -- "$@" --probe "p$n=f+1"
done
record "$@" --probe last=0x1@prog --probe last=f+1
is "$(grep -c "^xaudit: probe [a-z0-9]* at f+1 in prog: $why\$" said) $(grep -c '^xaudit: probe' said)" '19 20' \
	'of places that can not be had 20 lines tell why'
is "$(grep -c '^xaudit: probe q ' said)" 1 'each reason once for each probe'
like "$(cat said)" '^xaudit: 7 more can.t be had in prog: .xaudit ctl [0-9]* probes. lists them while the program' \
	'and the last one, how many there are besides'
like "$(cat said)" "^xaudit record: nothing that was loaded .* probe 'q', .* probe 'p19' and 5 more; or it can't" \
	'as many are named that nothing has'
record --probe a=f --context a:int:x:nosuch --probe b=f --context b:int:y:nosuch2,long:z:nosuch
is "$(cat said)" "xaudit: command line: no symbol 'nosuch' is known
xaudit: command line: no symbol 'nosuch2' is known" 'each mistake in what is recorded there is told, once'

# ---- xaudit trace ----
bounded 60 "$XAUDIT" trace -q --command='./prog' --function f --probe f%return --context f%return:int:r:ret \
	>out 2>lines
is "$(grep -c '^f(' lines) $(sed -n 's/^f%return(r=\(.*\))$/\1/p' lines | cksum)" \
	"100 $(sed -n '/listeners/!s/^[0-9]* \([0-9]*\) .*/\1/p' out | cksum)" 'trace prints probes between calls'

# ---- examples of the manual ----
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd -literal/,/^\.Ed/{/^\./d;s/\\e/\\/g;p;};}' \
	"$top_srcdir/doc/xaudit-probes.7" | sed -e ':a' -e '/\\$/N;s/\\\n//;ta' >examples
sed -n '/^xaudit/p' examples >commands
sed '/^xaudit/d' examples >example.conf
{
	printf '#include <stdlib.h>\nint *volatile kept;\n'
	yes '' | head -n 36
	printf '__attribute__((noinline)) int work(int n)\n{\n\tkept = calloc((size_t)n, 1000);\n'
	printf '\t*kept = n;\n\tfree(kept);\n\treturn n;\n}\n'
	printf 'int main(void)\n{\n\tint sum = 0;\n\tfor (int i = 1; i < 10; i++)\n\t\tsum += work(i);\n'
	printf '\treturn sum != 45;\n}\n'
} >app.c
$CC -g -O2 -o app app.c || bail 'no program'
mkdir bin
ln -s "$XAUDIT" bin/xaudit
while read -r example; do
	rm -rf xaudit.data*
	# What is behind main() in so many bytes, compilers choose.
	PATH=$tmp/bin:$PATH bounded 60 sh -c "$(echo "$example" | sed 's/main+0x10/main/')" >out 2>err </dev/null
	is "$? $(grep -v '^[a-z.]*:*[0-9]*\(%return\)*(.*)$\|exited' err)" '0 ' "it runs: $example"
	case $example in
	*' trace '*)
		is "$(grep -c '^work%return(ret=[1-9])$' err) $(grep -c '^app.c:42(n=' err)" '9 9' 'and prints that' ;;
	*big=*)
		is "$("$XAUDIT" dump --no-pager | grep -c 'probe .* big(')" 0 'and leaves out what is smaller' ;;
	esac
done <commands
is "$(wc -l <commands)" 3 'there are three'
bounded 60 "$XAUDIT" record -c example.conf true >out 2>err
is "$? $(grep -v 'nothing that was loaded' err)" '0 ' 'the configuration is taken'
done_testing
