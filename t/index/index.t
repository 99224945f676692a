#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index: what it finds in a library with a function of each form, where names come from, and where indexes are
# kept.
. "${top_srcdir:-.}/t/lib/tap.sh"

need objcopy strip readelf
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
unset XAUDIT_INDEX

index() {
	bounded 60 "$XAUDIT" index "$@" 2>"$tmp/err"
}
# Functions of a file, without addresses and runs of blanks.
functions() {
	index -nv "$@" | sed -n 's/^[0-9a-f]\{16\} *//p' | sed 's/  */ /g'
}

# build NAME ID: the library, with this build-id.
build() {
	"$CC" -shared -nostdlib -Wl,-Bsymbolic "-Wl,--build-id=0x$2" -o "$1" \
		"$top_srcdir/t/fixtures/index_functions.S" 2>err || bail "$CC: $(cat err)"
}

build forms.so 00112233
branch='a branch or a pointer, or data that looks like one, leads into the bytes displaced'
resolver='an IFUNC resolver, or called by one: it runs before its object is relocated'
start='it jumps to its own beginning, which would count as a call'
is "$(functions forms.so)" "6 jump 0+5 ?
1 jump 0+1 first
11 jump 0+9 plain
12 jump 4+7 landed
12 jump 0+6 branches
2 jump 0+2 jumps
3 jump 0+3 returns
14 jump 0+9 calls
11 jump 0+6 calls_pointer (may displace a call) (may fault elsewhere)
14 padding 0+4 spared
7 padding 0+2 loop_behind
5 padding 0+2 short_call (may displace a call)
10 - - loops ($start)
14 - - loops_behind_endbr ($start)
10 - - entered ($branch)
8 jump 0+5 enters
19 - - by_table ($branch)
7 - - by_pointer ($branch)
7 - - by_call ($branch)
7 - - by_abort ($branch)
15 jump 0+5 begins
21 jump 0+5 caller
1 - - tiny (too short, and no room before it)
5 - - double_call (a call among the first instructions that is not the last of those displaced)
11 - - asks_kernel (an instruction at its beginning that can't run elsewhere)
2 - - traps (an instruction at its beginning that can't run elsewhere)
8 - - unknown (bytes that are no instructions we know)
13 - - switches (it goes to another stack)
10 - - switches_registers (it goes to another stack)
7 - - adds_register (it goes to another stack)
19 jump 0+6 array
6 - - no_caller (nobody calls it: there is no return address where functions have theirs)
6 jump 0+5 hidden
7 - - from_signal (the kernel's return from a signal)
13 - - chosen ($resolver)
6 - - helps_to_choose ($resolver)
7 - - outer (another function begins in the bytes that would be displaced)
5 jump 0+5 inner
13 jump 0+6 asks_caller (entry only: it, or its runtime, reads or moves return addresses)
8 jump 0+6 moves_return (entry only: it, or its runtime, reads or moves return addresses)
6 jump 0+5 reads_argument
6 jump 0+5 setjmp (entry only: by its name)
6 jump 0+5 last" 'each form is found, and each reason to leave a function alone'
counted='43 functions, 23 displaceable (53.4 %); of 38 with 5 bytes or more 52.6 %'
is "$(index -n forms.so | head -n 2)" "forms.so: $counted
  refused 2: $resolver" 'they are counted'

"$CC" -static -nostdlib -no-pie -Wl,--build-id=none -o fixed "$beside/index_fixed.S" 2>err ||
	bail "$CC: $(cat err)"
nobody='nobody calls it: there is no return address where functions have theirs'
is "$(functions fixed)" "7 - - _start ($nobody)
12 jump 0+5 chooses
14 jump 0+5 ?
15 jump 0+8 outer
7 - - within ($nobody)" 'where there are no relocations, jump tables are told from pointers'

# Names.
strip -o stripped.so forms.so || bail 'strip'
is "$(functions stripped.so | grep -c ' ?$')" 2 'without names, a call shows that there is a function'
is "$(functions stripped.so | sed 's/ hidden$/ ?/')" "$(functions forms.so | sed 's/ hidden$/ ?/')" \
	'which is judged as with a name'
objcopy --only-keep-debug forms.so forms.debug && strip -o linked.so forms.so &&
	objcopy --add-gnu-debuglink=forms.debug linked.so || bail 'objcopy'
is "$(functions linked.so)" "$(functions forms.so)" 'names come from a debug file'
# As a package of debug files installs it: in a mount of our own.
by_build_id='mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/00 &&
	cp forms.debug /usr/lib/debug/.build-id/00/112233.debug && exec "$0" "$@"'
own='unshare --mount'
[ "$(id -u)" -eq 0 ] || own='unshare --map-root-user --mount'
if $own mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
	is "$($own sh -c "$by_build_id" "$XAUDIT" index -nv stripped.so 2>&1 |
		sed -n 's/^[0-9a-f]\{16\} *//p' | sed 's/  */ /g')" "$(functions forms.so)" \
		'also from one that its build-id names'
else
	skip 1 'no mounts of our own here'
fi
build other.so 00112234 && objcopy --only-keep-debug other.so forms.debug || bail 'objcopy'
is "$(functions linked.so)" "$(functions stripped.so)" 'but not from that of another build'
if command -v xz >/dev/null; then
	objcopy -S --remove-section .gnu_debuglink --keep-symbol=hidden forms.so mini.debug && xz mini.debug &&
		objcopy --add-section .gnu_debugdata=mini.debug.xz stripped.so mini.so || bail 'objcopy'
	is "$(functions mini.so)" "$(functions forms.so)" 'and from .gnu_debugdata'
else
	skip 1 'no xz here'
fi

# Where they are kept.
mode() {
	stat -c '%a %F' "$@"
}
# What is in a folder: indexes without the hash of the content, and how many stamps.
held() {
	echo "$(cd "$1" && ls -A | sed -n 's/-\{0,1\}[0-9a-f]\{32\}\.index$/.index/p; /\.index$/!{/\.stamp$/!p;}') $(
		find "$1" -name '*.stamp' | wc -l)"
}
is "$(index --cache=cache/of/mine forms.so | wc -l; cat err)" 12 'an index is kept'
is "$(held cache/of/mine)" '00112233.index 1' 'its name begins with the build-id, and there is a stamp'
is "$(mode cache/of/mine cache/of/mine/00112233-*.index)" '700 directory
600 regular file' 'nobody else may look at it'
is "$(cat cache/of/mine/*.stamp)" "$(cd cache/of/mine && ls *.index)" 'the stamp says its name'
# shellcheck disable=SC2046
numbers=$(printf '%x-%x-%x-%x-%x' $(stat -c '%d %i %s %.9Y %.9Z' forms.so | tr -d '.,'))
ok "it has the file's device, inode, size and times" test -f "cache/of/mine/$numbers.stamp"
cp cache/of/mine/00112233-*.index once
index --cache=cache/of/mine stripped.so >/dev/null
is "$? $(held cache/of/mine)" '0 00112233.index 2' 'that of a stripped copy takes its place, with a stamp of its own'
index --cache=cache/of/mine forms.so >/dev/null
ok 'the same file makes the same index' cmp once cache/of/mine/00112233-*.index
is "$(held cache/of/mine)" '00112233.index 2' 'and the same stamp'
mkfifo unread
exec 5<>unread 6>unread 5<&-
index -v --cache=unread.cache forms.so >&6
is "$? $(cat err) $(held unread.cache)" '0  00112233.index 1' 'a reader that has seen enough does not hinder that'
index -n --cache=none forms.so >/dev/null
ok '-n keeps nothing' test ! -e none
objcopy --remove-section .note.gnu.build-id forms.so anonymous.so || bail 'objcopy'
index --cache=cache/of/mine anonymous.so >/dev/null
is "$(held cache/of/mine)" '00112233.index
.index 3' 'without a build-id its name is the hash alone'
mkdir open && chmod 777 open
index --cache=open forms.so >out
is "$? $(cat err)" "1 xaudit index: forms.so: can't be kept in open: it is not yours, or others may write to it" \
	'no index is kept where others may write'
is "$(ls -A open)" '' 'nothing is left there'
ln -s cache/of/mine link
index --cache=link forms.so >out
is "$? $(cat err)" "1 xaudit index: forms.so: can't be kept in link: it is no folder, or a link to one" \
	'nor behind a symbolic link'
: >file
index --cache=file forms.so >out
is "$? $(cat err)" "1 xaudit index: forms.so: can't be kept in file: it is no folder, or a link to one" 'nor in a file'
echo text >text
# To a descriptor, where a folder does not take it.
rm -r cache
index --quiet --fd=3 --cache=cache forms.so 3>fd.index >out
is "$? $(cat err out) $(stat -c %s fd.index)" '0  0' 'what is kept in a folder is not written to a descriptor'
ok 'it is kept' cmp once cache/00112233-*.index
index --quiet --fd=3 --cache=open forms.so 3>fd.index >out
is "$? $(cat err out)" '0 ' 'with a descriptor, no folder to keep it in is no failure'
ok 'the index is written there' cmp once fd.index
index -nq --fd=3 --cache=none forms.so 3>fd.index >out
is "$? $(cat err out)" '0 ' 'nor is a dry run'
ok 'whose index is written there, too' cmp once fd.index
ok 'and nowhere else' test ! -e none
index -nq --fd=1 forms.so >fd.index
ok 'the descriptor may be standard output' cmp once fd.index
index -nq --fd=3 forms.so 3</dev/null >out
is "$? $(cat err out)" "1 xaudit index: forms.so: can't be written to descriptor 3: Bad file descriptor" \
	'one that is not open for writing is told'
index -nq --fd=3 forms.so other.so >out
is "$? $(cat err out)" '2 xaudit index: --fd takes one file, not also other.so; see xaudit index --help' \
	'two indexes would become one text'
index -nq --fd=x forms.so >out
is "$? $(cat err out)" '2 xaudit index: --fd is the number of a descriptor, not x; see xaudit index --help' \
	'a descriptor is a number'
index -q text forms.so --cache=cache >out
is "$? $(cat err out)" '1 xaudit index: text: not an x86-64 ELF file' '-q says errors alone'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$tmp" && mkdir home && chown 65534 home || bail 'no folder for a user'
	# The checkout may lie where nobody else can go.
	cp "$XAUDIT" command || bail 'no copy of the command'
	as_user() {
		bounded 60 setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME "$@"
	}
	as_user HOME="$tmp/home" ./command index forms.so >out 2>err
	is "$? $(cat err) $(mode home/.cache/xaudit home/.cache/xaudit/*.index)" '0  700 directory
600 regular file' "a user's are in the cache at home"
	as_user XDG_CACHE_HOME="$tmp/home/here" ./command index forms.so >out 2>err
	is "$? $(cat err) $(held home/here/xaudit)" '0  00112233.index 1' 'or where XDG_CACHE_HOME says'
	as_user -u HOME ./command index forms.so >out 2>err
	is "$? $(cat err)" '1 xaudit index: no folder to keep it in: set XDG_CACHE_HOME or HOME, or use --cache' \
		'or nowhere'
	# It may be a copy of any other file, but for what it says of functions.
	mkdir -m 755 theirs && cp forms.so theirs && chown -R 1234 theirs
	rm -rf home/.cache
	as_user HOME="$tmp/home" ./command index theirs/forms.so >out 2>err
	is "$? $(cat err) $(ls home/.cache/xaudit 2>&1 | grep -c index$)" \
		"1 xaudit index: theirs/forms.so: can't be kept in \
$tmp/home/.cache/xaudit: another user may change the file, and what it says of its functions 0" \
		"nor of another user's file"
	as_user HOME="$tmp/home" ./command index --cache=home/mine theirs/forms.so >out 2>err
	is "$? $(ls home/mine 2>&1 | grep -c index$)" '1 0' 'into whatever folder'
	mkdir -m 755 home/others
	as_user ./command index --cache=home/others forms.so >out 2>err
	is "$?" 1 "but not in somebody else's folder"
else
	skip 6 'only root can be somebody else'
fi

# Text relocations, in the code and elsewhere.
"$CC" -shared -nostdlib -Wl,-z,notext -o relocated.so -x assembler - 2>err <<'END'
	.globl f; .type f, @function
f:	movabs $g, %rax
	ret
	.globl g; .type g, @function
g:	ret
END
relocated='  its code is relocated when it is loaded: none of it will be displaced'
is "$? $(index -n relocated.so | grep "^  .*relocated")" "0 $relocated" 'relocations in the code are told'
"$CC" -shared -nostdlib -Wl,-z,notext -o told.so -x assembler - 2>err <<'END'
	.globl f; .type f, @function
f:	ret
	.section .rodata
	.quad f
END
is "$? $(readelf -d told.so | grep -c '(TEXTREL)') $(index -n told.so | grep '^  .*relocated')" '0 1 ' \
	'others that need DT_TEXTREL do no harm'

# By name: another name (alias), two functions of one name, the beginning of a name, and without one.
cat >names.c <<'END'
__attribute__((noinline)) static int twin(int *p) { return ++*p; }
int weather(int *p) { return twin(p) + 1; }
extern int whether(int *p) __attribute__((alias("weather")));
extern int another(int *p) __attribute__((weak, alias("weather")));
int NAME(int *p) { return twin(p) * 3; }
END
"$CC" -O2 -fPIC -c -DNAME=wet -o one.o names.c 2>err && sed -i '/weather/d' names.c &&
	"$CC" -O2 -fPIC -c -DNAME=dry -o two.o names.c 2>err &&
	"$CC" -shared -nostdlib -Wl,--build-id=0x44556677 -o names.so one.o two.o 2>err || bail "$CC: $(cat err)"
"$CC" -O2 "-I$top_srcdir" -o index_find "$beside/index_find.c" \
	"$top_builddir/audit/index/.libs/libindex.a" "$top_builddir/audit/match/.libs/libmatch.a" \
	"$top_builddir/x86_64/.libs/libsled.a" 2>err || bail "$(cat err)"
index --cache=cache/of/mine names.so >/dev/null || bail "no index: $(cat err)"
# found PATTERN...: names and best names; their addresses go to the file `at`
found() {
	./index_find cache/of/mine/44556677-*.index "$@" >found.out || echo "failed: $?"
	cut -d' ' -f1 found.out >at
	cut -d' ' -f2- found.out
}
# at NAME: its addresses as nm has them
at() {
	nm names.so | sed -n "s/^0*\([0-9a-f]*\) [tTW] $1\$/\1/p"
}
is "$(found whether)" 'whether another' 'a function is found by another of its names'
is "$(cat at)" "$(at weather)" 'which is at its address'
is "$(found another)" 'another another' 'or by a weak one'
is "$(found twin; at twin | sort)" "twin twin
twin twin
$(sort at)" 'two functions may have one name'
is "$(found 'we*')" 'weather another
wet wet' 'by the beginning of a name'
is "$(found 'w[e]t' | grep -c .)" 3 'what begins as a pattern does is left for the caller to ask'
is "$(found 'wether' 'zz*' 'w')" '' 'or none'
is "$(found '*' | sort)" 'another another
dry dry
twin twin
twin twin
wet wet' 'a star is each function once'

# What is no library, and what is damaged.
index -n text forms.so >out
is "$? $(cat err) $(grep -c '^forms.so: 43 functions' out)" '1 xaudit index: text: not an x86-64 ELF file 1' \
	'a file that is none is told, and the next one is read'
mkfifo fifo
index -n fifo >out
is "$? $(cat err)" '1 xaudit index: fifo: not an x86-64 ELF file' 'a FIFO is not waited for'
index -n missing >out
is "$? $(cat err)" '1 xaudit index: missing: No such file or directory' 'nor is what is missing'
is "$(index >out; echo $?) $(cat err)" '2 xaudit index: no file is named; see xaudit index --help' 'a file is needed'
index -nv /lib64/ld-linux-x86-64.so.2 >out
is "$? $(grep -c '(the dynamic linker itself)$' out) $(grep -c ' jump \| padding ' out)" \
	"0 $(sed -n 's/.*: \([0-9]*\) functions, 0 displaceable.*/\1/p' out) 0" \
	'nothing of the dynamic linker is displaceable'
size=$(stat -c %s forms.so)
i=0
bad=
while [ $i -lt 300 ]; do
	i=$((i + 1))
	cp forms.so damaged.so
	# Bytes in the headers, in unwind information, anywhere; some files cut short.
	at=$(((i * 7919) % size))
	[ $((i % 3)) -ne 0 ] || at=$(((i * 31) % 1024))
	printf '\377\200\1' | dd of=damaged.so bs=1 seek=$at conv=notrunc 2>/dev/null
	[ $((i % 10)) -ne 0 ] || dd if=forms.so of=damaged.so bs=1 count=$at 2>/dev/null
	index -n damaged.so >out
	status=$?
	[ $status -le 1 ] || bad="$bad $at:$status"
done
is "$bad" '' 'damaged files are read, or refused'
done_testing
