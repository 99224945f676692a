#!/bin/sh
# SPDX-License-Identifier: MIT
#
# XAUDIT_IF_TRACED: guarded code runs when xaudit is at work and only then, however it is compiled and linked.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

runs=1000
untraced='constructor 0 1 plain 0 1000 many 0 0 inlined 0 part 0'
traced='constructor 1 0 plain 1000 0 many 3000 1000 inlined 3000 part'
include="-I$top_srcdir/runtime/api -Wall -Wextra -Werror"
# Of a process where nothing is to be recorded.
printf '[trace]\noutput = %s/nothing\n[library nosuch.so]\n[library libguard*]\n' "$tmp" >conf

# audited COMMAND...: under the module, without a record.
audited() {
	bounded 60 env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" "$@"
}
# both NAME [EACH]: the program ./guard runs its guarded code if and only if the module is there.
both() {
	got=$(bounded 60 ./guard "$runs" 2>&1; audited ./guard "$runs" 2>&1)
	of=$((runs * ${2:-2}))
	is "$got" "$untraced of $of
$traced $of of $of" "$1: guarded code never runs untraced, and always under the module"
}

# in_c and in_cc COMPILER FLAG...: makes ./guard; status 1: this compiler or linker can't.
in_c() {
	compiler=$1
	shift
	rm -f guard
	# shellcheck disable=SC2086
	$compiler $include -o guard "$beside/guard.c" "$beside/guard_part.c" "$@" 2>.err
}
in_cc() {
	compiler=$1
	shift
	rm -f guard
	# shellcheck disable=SC2086
	$compiler $include "$@" -x c++ -c -o again.o "$beside/guard_part.cc" -DGUARD_AGAIN 2>.err &&
		$compiler $include "$@" -x c++ -c -o part.o "$beside/guard_part.cc" 2>.err &&
		$compiler $include "$@" -x c++ -c -o main.o "$beside/guard.c" 2>.err &&
		$compiler "$@" -o guard main.o part.o again.o 2>.err
}
# with NAME EACH BUILD...: a check, skipped where compiler or linker can't build it. In check a third of them.
nth=$(rounds 3 1) combination=0
with() {
	name=$1 each=$2
	shift 2
	combination=$((combination + 1))
	[ $((combination % nth)) -eq 0 ] || return 0
	if "$@"; then
		both "$name" "$each"
	elif grep -q 'guard' .err; then
		ok "$name: it compiles and can be linked: $(cat .err)" false
	else
		skip 1 "$name: not here: $(head -n 1 .err)"
	fi
}

clangs=
for name in "$CLANG" clang-19; do
	[ -n "$name" ] && command -v "$name" >/dev/null 2>&1 && clangs="$clangs $name"
done
linkers=
for name in bfd gold lld; do
	command -v ld.$name >/dev/null 2>&1 && linkers="$linkers $name"
done
# For C++ the driver's C name is enough, with C++'s library.
for cc in "$CC" $clangs; do
	case $cc in *clang*) cxx="$cc -lstdc++" werror=-Wno-unused-command-line-argument ;; *) cxx=$CXX werror= ;; esac
	for flags in '-O0 -std=gnu89' '-O1 -std=c90 -pedantic' '-O2 -std=c11 -pedantic' '-O3 -funroll-loops' \
		'-Os -fPIC' '-O2 -fno-pie -no-pie' '-O2 -fPIE -pie -Wl,-z,now' \
		'-O2 -fcf-protection=full' '-O2 -flto' '-O2 -mcmodel=large' '-Og -g3 -fno-omit-frame-pointer' \
			'-O2 -masm=intel'; do
		# shellcheck disable=SC2086
		with "$cc $flags" 2 in_c "$cc" $flags $werror
	done
	for flags in '-O0 -std=gnu++98' '-O2 -pedantic' '-O3 -std=c++17' '-O2 -flto' '-O2 -fcf-protection=full'; do
		# shellcheck disable=SC2086
		with "$cc $flags, C++" 6 in_cc "$cxx" $flags $werror
	done
	for linker in $linkers; do
		for flags in '-O2' '-O2 -ffunction-sections -Wl,--gc-sections' \
			'-O0 -ffunction-sections -Wl,--gc-sections -Wl,--no-export-dynamic'; do
			# shellcheck disable=SC2086
			with "$cc $flags, ld.$linker" 2 in_c "$cc" $flags -fuse-ld=$linker $werror
			# shellcheck disable=SC2086
			with "$cc $flags, ld.$linker, C++" 6 in_cc "$cxx" $flags -fuse-ld=$linker $werror
		done
	done
done

# sections: the dynamic relocations of the table and whether it can be written to; how many notes name it.
sections() {
	readelf -SW "$1" |
		awk '$2 == "xaudit_guards" || $3 == "xaudit_guards" { print ($0 ~ / A[L ]* /) ? "read-only" : $0 }'
	readelf -rW "$1" | grep -c guard
	readelf -nW "$1" | grep -c '^  xaudit .*0x00000018'
}

# fast FUNCTION: names of its instructions up to the first return.
fast() {
	objdump -d --no-show-raw-insn --disassemble="$1" guard |
		awk '$1 ~ /^[0-9a-f]+:$/ { if (!done) printf "%s%s", between, $2; between = " " }
			$2 ~ /^ret/ { done = 1 }'
}
for cc in "$CC" $clangs; do
	in_c "$cc" -O2 || bail "guard does not compile: $(cat .err)"
	like "$(fast guard_fast)" '^(mov )?nopl (lea|inc|add)( mov)? ret$' \
		"$cc: a guard that is off costs one NOP; what it guards stands behind the return"
	is "$(sections guard)" "read-only
0
1" "$cc: its table is read-only, without dynamic relocations, and one note tells of it"
	in_c "$cc" -O2 -DXAUDIT_NO_HOOK || bail "guard does not compile: $(cat .err)"
	is "$(audited ./guard "$runs")/$(sections guard | tr '\n' ' ')" "$untraced of 2000/0 0 " \
		"$cc: with XAUDIT_NO_HOOK it is never taken, and there is none"
done

# Unused functions are dropped, with their guards.
unused() {
	nm guard | grep -c unused
}
for linker in $linkers; do
	options="-Wl,--gc-sections"
	[ $linker != bfd ] || options="$options -Wl,-z,start-stop-gc"
	[ $linker != gold ] || continue # it has no such option
	# shellcheck disable=SC2086
	in_c "$CC" -O2 -ffunction-sections -fuse-ld=$linker $options || bail "guard can't be linked: $(cat .err)"
	is "$(unused)" 0 "ld.$linker: sections of guards don't keep functions that nobody calls"
	both "ld.$linker without them"
done

# An LTO object file together with one that is not LTO: lld keeps the notes of both.
in_mixed() {
	$CLANG $include -O2 -flto -c -o main.o "$beside/guard.c" &&
		$CLANG $include -O2 -c -o part.o "$beside/guard_part.c" &&
		$CLANG -flto -fuse-ld=lld -o guard main.o part.o
}
if [ -n "$CLANG" ] && in_mixed 2>.err; then
	both 'LTO for a part of it'
else
	skip 1 "no LTO with lld here: $(head -n 1 .err)"
fi

# In libraries, static and shared; stripped; without section headers.
in_archive() {
	$CC $include -O2 -c -o part.o "$beside/guard_part.c" && ar rcs libpart.a part.o &&
		$CC $include -O2 -o guard "$beside/guard.c" -L. -lpart
}
ok 'a static library can be linked' in_archive
both 'a static library'
for flags in '' -s; do
	# shellcheck disable=SC2086
	library "$CC" libguarded.so guard_part.c $include $flags
	# shellcheck disable=SC2086
	$CC $include -O2 $flags -o guard "$beside/guard.c" -L. -lguarded -Wl,-rpath,'$ORIGIN' ||
		bail 'guard can not be linked'
	both "a shared library${flags:+, both stripped}"
done
# Like sstrip: e_shoff, e_shnum and e_shstrndx.
for file in guard libguarded.so; do
	printf '\0\0\0\0\0\0\0\0' | dd of=$file bs=1 seek=40 conv=notrunc 2>/dev/null
	printf '\0\0\0\0' | dd of=$file bs=1 seek=60 conv=notrunc 2>/dev/null
done
like "$(readelf -S guard)" 'no sections' 'there are no section headers'
both 'no section headers'

ok 'none of these processes made a trace' test ! -e nothing
done_testing
