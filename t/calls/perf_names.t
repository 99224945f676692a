#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The names of return labels, for perf: in a library with as many symbols as large programs have each is found at once,
# and is that of the function which the call is in. No perf is needed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need nm awk
# shellcheck disable=SC2016 # $ORIGIN is for ld.so

callers=1000 symbols=300000
library "$CC" libcounted.so counted.c
# many() calls all others, and these counted(). Between them and the rest lie symbols that nobody calls.
awk -v callers="$callers" -v symbols="$symbols" '
	function begin(name, type) { printf "\t.type %s, @%s\n%s:\n", name, type ? type : "function", name }
	function call(name) { print "\tsub $8, %rsp\n\tcall " name "\n\tadd $8, %rsp" }
	function end(name) { print "\tret\n\t.size " name ", . - " name }
	BEGIN {
		print "\t.text\n\t.globl many"
		begin("many")
		for (i = 0; i < callers; i++)
			call("caller_" i)
		call("local_one")
		call("weak_one")
		call("outer")
		call("sizeless")
		end("many")
		for (i = 0; i < callers; i++) {
			begin("caller_" i)
			call("counted@plt")
			end("caller_" i)
		}
		# Three at one place.
		print "\t.globl global_two\n\t.weak weak_two, weak_one"
		begin("local_one"); begin("global_two"); begin("weak_two")
		call("counted@plt")
		end("local_one")
		print "\t.size global_two, . - global_two\n\t.size weak_two, . - weak_two"
		begin("weak_one"); begin("local_two")
		call("counted@plt")
		end("weak_one")
		print "\t.size local_two, . - local_two"
		# One call in front of what lies within, one in it, one behind it.
		begin("outer")
		call("counted@plt")
		begin("inner")
		call("counted@plt")
		print "\t.size inner, . - inner"
		begin("innermost")
		print "\tnop\n\t.size innermost, . - innermost"
		call("counted@plt")
		end("outer")
		begin("sizeless", "notype")
		call("counted@plt")
		print "\tret\n\t.globl pads\npads:\n\t.skip " symbols
		for (i = 0; i < symbols; i++)
			printf "\t.type pad_%d, @function\npad_%d = pads + %d\n\t.size pad_%d, 1\n", i, i, i, i
		print "\t.section .note.GNU-stack, \"\", @progbits"
	}' >many.s
$CC -shared -o libmany.so many.s -L. -lcounted -Wl,-rpath,'$ORIGIN' || bail 'libmany.so does not link'
echo 'void many(void); int main(void) { many(); return 0; }' |
	$CC -o many -x c - -L. -lmany -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,. || bail 'many does not link'
is "$(nm libmany.so | grep -c ' pad_')" "$symbols" 'a library has many symbols'

record d --perf -k plt -l libcounted.so ./many
report d
is "$status/$err/$(calls counted)" "0//$((callers + 6))" 'and is traced'
nm d/p*/labels | sed 's/.* //' | sort >names
is "$(grep -c '^caller_' names) $(grep '^caller_' names | sort -u | wc -l)" "$callers $callers" \
	'each label has the name of its own function'
# outer has two: before what lies in it, and behind that.
is "$(grep -v '^caller_' names | tr '\n' ' ')" 'global_two inner outer outer sizeless weak_one ' \
	'a global symbol before others, the innermost, and one without a size where no other is'

# CPU time, whatever else the machine does; one that goes through all for each takes many times that.
times_of() (
	times >before
	bounded 60 "$XAUDIT" perf d
	times >after
	cat before after | awk 'NR % 2 == 0 { split($1, t, /[ms]/); sum = 100 * (60 * t[1] + t[2]) - sum }
		END { print int(sum) }'
)
took=$(times_of)
ok "in little time (user, hundredths of a second: $took)" test "$took" -lt 200

# On a terminal, when the clock says that it takes more than a second.
library "$CC" libhurry.so hurry.c
if command -v script >/dev/null; then
	bounded 60 script -qec "LD_PRELOAD='$tmp/libhurry.so' '$XAUDIT' perf d; echo status \$?" /dev/null \
		</dev/null >tty.out 2>&1
	like "$(tr '\r' '\n' <tty.out)" ' % \[#* *\]' 'long work shows how far it came'
	like "$(tail -n 1 tty.out)" 'status 0' 'to its end'
	ok 'of which nothing is left' grep -q "$(printf '\033\[Kstatus')" tty.out
else
	skip 3 'no script here'
fi
bounded 60 env LD_PRELOAD="$tmp/libhurry.so" "$XAUDIT" perf d >out 2>&1
is "$?/$(cat out)" 0/ 'but not where there is no terminal'
done_testing
