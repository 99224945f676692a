#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index finds each call that a compiler makes for a profiler (-pg), in each of its forms: where it is, how long,
# and of whom, as objdump has it.
. "${top_srcdir:-.}/t/lib/tap.sh"

need objdump nm strip
skip_sanitized
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'

names='pg_aligned pg_large pg_leaf pg_many pg_middle pg_run pg_sum pg_variadic'

# What xaudit index says of the part's eight functions: address, call or nop, its length, whom, form, function.
said() {
	bounded 60 "$XAUDIT" index -nv "$1" >listing 2>err || bail "index: $(cat err)"
	sed -n '/^address.* call /,$p' listing |
		awk '$NF ~ /^pg_/ { sub(/^0+/, "", $1); print $1, $2, $3, $4, $5, $NF }' | sort
}
# The same from objdump: calls of them, or five-byte NOPs, one for each function: the first behind its name.
seen() { # FILE CALLEE NOP
	objdump -d "$1" | awk -v callee="$2" -v nops="$3" '
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); next }
		name !~ /^pg_/ || name ~ /^pg_(expected|work)$/ { next }
		{
			is = nops ? /\t0f 1f 44 00 00 +\tnopl/ : /call/ && $0 ~ "<_?" callee "[@>]"
			if (!is)
				next
			split($0, part, "\t")
			address = part[1]
			gsub(/[ :]/, "", address)
			print address, nops ? "nop" : "call", split(part[2], byte, " "), callee, "jump", name
			name = ""
		}' | sort
}
# found NAME CALLEE NOP FILE
found() {
	said=$(said "$4")
	is "$said" "$(seen "$4" "$2" "$3")" "$1: calls are where objdump has them"
	is "$(echo "$said" | awk '{ print $NF }' | sort | xargs)" "$names" "$1: each function has one"
}
part=$top_srcdir/t/fixtures/pg_part.c
main='int pg_run(int), pg_expected(int); int main(void) { return pg_run(3) != pg_expected(3); }'
echo "$main" >main.c

# library COMPILER CALLEE OPTION...
library() {
	compiler=$1 callee=$2
	shift 2
	if "$compiler" -fPIC -shared "$@" -o part.so "$part" 2>err; then
		found "$compiler -shared $*" "$callee" '' part.so
	else
		skip 2 "$compiler has no $*"
	fi
}
# program COMPILER CALLEE NOP OPTION...
program() {
	compiler=$1 callee=$2 nop=$3
	shift 3
	if "$compiler" -no-pie -fno-pie "$@" -o program "$part" main.c 2>err; then
		found "$compiler $*" "$callee" "$nop" program
	else
		skip 2 "$compiler has no $*"
	fi
}

for compiler in "$CC" "$CLANG"; do
	[ -n "$compiler" ] && command -v "$compiler" >/dev/null || continue
	for level in -O0 -O2; do
		library "$compiler" mcount $level -pg
		library "$compiler" __fentry__ $level -pg -mfentry
	done
	for option in -fno-plt -fcf-protection=full -Wl,-z,now; do
		library "$compiler" mcount -O2 -pg $option
		library "$compiler" __fentry__ -O2 -pg -mfentry $option
	done
	for option in -O0 -O2; do
		program "$compiler" mcount '' $option -pg
		program "$compiler" __fentry__ '' $option -pg -mfentry
	done
	program "$compiler" __fentry__ '' -O2 -pg -mfentry -fcf-protection=full -Wl,-z,ibtplt
done
# gcc alone has these.
for level in -O0 -O2; do
	library "$CC" mcount $level -pg -mrecord-mcount
	library "$CC" __fentry__ $level -pg -mfentry -mrecord-mcount
	program "$CC" mcount '' $level -pg -mrecord-mcount
	program "$CC" mcount 1 $level -pg -mnop-mcount
	program "$CC" mcount 1 $level -pg -mnop-mcount -mrecord-mcount
	program "$CC" __fentry__ 1 $level -pg -mfentry -mnop-mcount
	program "$CC" __fentry__ 1 $level -pg -mfentry -mnop-mcount -mrecord-mcount -fcf-protection=full
done

# Who has functions of these names itself: calls are direct, some made so by the linker.
echo 'void __fentry__(void); __asm__(".globl __fentry__; .type __fentry__, @function; __fentry__: ret");' >own.c
for option in '-fno-pie -no-pie' '-fPIE -pie' '-fPIC -shared -Wl,-Bsymbolic'; do
	if "$CC" -O2 -pg -mfentry $option -c -o part.o "$part" 2>err &&
		"$CC" ${option#-f*E } -o own part.o -x c own.c main.c 2>err; then
		found "__fentry__ of its own, $option" __fentry__ '' own
	else
		skip 2 "$CC can't: $(tail -n 1 err)"
	fi
done

# Without names the calls are the same.
"$CC" -O2 -fPIC -shared -pg -mfentry -o part.so "$part" 2>err || bail "$CC: $(cat err)"
said part.so | cut -d' ' -f1-4 >with
strip -o stripped.so part.so || bail 'strip'
"$XAUDIT" index -nv stripped.so | sed -n '/^address.* call /,$p' |
	awk '/^0/ { sub(/^0+/, "", $1); print $1, $2, $3, $4 }' | sort >without
is "$(cat without)" "$(cat with)" 'a stripped library has the same calls'
like "$("$XAUDIT" index -n part.so)" \
	'^  calls of __fentry__: 8, 0 of them NOPs; functions traceable by them: 8$' 'they are counted'
# An object without them, and one whose NOPs are of another kind, have none.
"$CC" -O2 -fPIC -shared -o part.so "$part" &&
	"$CC" -O2 -no-pie -fpatchable-function-entry=5 -o program "$part" main.c ||
	bail "$CC"
is "$("$XAUDIT" index -nv part.so program | grep -c 'calls of')" 0 'others have none'
done_testing
