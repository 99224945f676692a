#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit record makes the indexes that its rules ask for, and no others, before the command starts; once; where they
# belong, or in the trace.
. "${top_srcdir:-.}/t/lib/tap.sh"

need ldd readelf
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
export XAUDIT_CONFIG=/dev/null
unset XAUDIT_RULES XDG_CACHE_HOME

# Three libraries, with build-ids that tell them apart: the program knows two of them, one by the other's RUNPATH.
mkdir deep plugins
build() { # FILE ID OPTION...
	built=$1
	id=$2
	shift 2
	"$CC" -O1 "-Wl,--build-id=0x$id" -o "$built" "$@" 2>err || bail "$CC: $(cat err)"
}
echo 'int deep_add(int x) { return x + 1; }' >deep.c
echo 'int deep_add(int); int top_add(int x) { return deep_add(x) + 1; }' >top.c
echo 'int plug(void) { return 1; }' >plug.c
echo 'int top_add(int); int main(void) { return top_add(1) != 3; }' >main.c
build deep/libdeep.so aaaaaaaa -shared -fPIC -Wl,-soname,libdeep.so deep.c
build libtop.so bbbbbbbb -shared -fPIC -Wl,-soname,libtop.so top.c -Ldeep -ldeep '-Wl,-rpath,$ORIGIN/deep'
build plugins/libplug.so cccccccc -shared -fPIC plug.c
build prog dddddddd main.c -L. -ltop -Wl,-rpath-link,deep '-Wl,-rpath,$ORIGIN'
printf '#!%s/prog\n' "$tmp" >script && chmod +x script

# made OPTION...: which indexes are made, by the first byte of their build-ids; what is said.
export XAUDIT_INDEX=$tmp/cache
made() {
	rm -rf cache d
	again "$@"
}
# As made(), but those that are there stay. What the module lacks says nothing about what was made.
again() {
	bounded 60 "$XAUDIT" record -o d "$@" >out 2>err
	echo "$? $(cd cache 2>/dev/null && ls | sed -n 's/^\(..\)\1*-[0-9a-f]*\.index$/\1/p' | tr '\n' ' ')$(
		grep -v 'nothing was selected' err)"
}

is "$(made ./prog)" '0 ' 'no kind needs an index: none is made'
is "$(made -l 'libtop*' ./prog)" '0 ' 'nor with -l alone'
is "$(made -k plt,xray,patchable -F 'deep_add' ./prog)" '0 ' 'nor where -k names other kinds'
is "$(made -k entry -l 'libtop.so' ./prog)" '0 bb ' 'one library by entry'
is "$(made -k entry -l 'libtop.so' -l 'libdeep*' ./prog)" '0 aa bb ' 'two, as the dynamic linker finds them'
is "$(made -F deep_add ./prog)" '0 aa bb dd ' 'a function that is named: the program and its libraries'
# Of the libc that all use, root may have an index.
stranger "$(ldd ./prog | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')" libc.so.6 356 || bail 'libc has no build-id'
is "$(made -F deep_add ./prog)" '0 aa bb dd ee ' 'libc, too'
rm libc.so.6
loader=$(readelf -n "$(readelf -l prog | sed -n 's/.*interpreter: \(.*\)]/\1/p')" | sed -n 's/.*Build ID: //p')
is "$(find cache -name "$loader-*")" '' 'but not the loader'
is "$(made -F 'deep_add@libdeep*' ./prog)" '0 aa ' 'of one library: that'
is "$(made -F '*' ./prog)" '0 ' '* names none'
printf '[program]\nkinds = entry\n' >program.conf
is "$(made -c program.conf ./prog)" '0 dd ' 'the program'
is "$(made -c program.conf ./script)" '0 dd ' "a script's interpreter"
is "$(PATH=$tmp:$PATH made -c program.conf prog)" '0 dd ' 'through PATH'
is "$(made -k entry -l "$tmp/plugins/lib*.so" ./prog)" '0 cc ' 'what a path names, though the program does not load it'
is "$(made -k entry -F "plug@$tmp/plugins/libplug.so" ./prog)" '0 cc ' 'or a pattern of a function'
ln -s libplug.so plugins/libother.so
is "$(made -k entry -l "$tmp/plugins/lib*" ./prog)" '0 cc ' 'once, where a file has two names'
echo text >plugins/libtext.so && mkfifo plugins/libfifo.so
is "$(made -k entry -l "$tmp/plugins/lib*" ./prog)" '0 cc ' 'and what is no library is left out'
rm plugins/libtext.so plugins/libfifo.so
is "$(LD_PRELOAD=$tmp/plugins/libplug.so made -k entry -l 'libplug.so' ./prog)" '0 cc ' 'preloaded libraries'
is "$(made -k entry -l 'libtop.so' -o d/no/such ./prog | cut -c 1-4)" '125 ' 'a command that does not start'

# Once.
made -k entry -l 'libtop.so' ./prog >out
of_top=$(echo cache/bbbbbbbb-*.index)
before=$(stat -c '%i %y' "$of_top")
is "$(again -k entry -l 'libtop.so' ./prog) $(stat -c '%i %y' "$of_top")" "0 bb  $before" \
	'an index that is there is not made again'
is "$(again -k entry -l 'libdeep.so' ./prog)" '0 aa bb ' 'a missing one is'
printf x | dd of="$of_top" bs=1 seek=$(($(stat -c %s "$of_top") - 9)) conv=notrunc 2>err ||
	bail "$(cat err)"
again -k entry -l 'libtop.so' ./prog >out
ok 'and a damaged one' test "$(stat -c '%i %y' "$of_top")" != "$before"
bounded 60 "$XAUDIT" index -q --cache=whole libtop.so
ok 'which is whole then' cmp whole/bbbbbbbb-*.index "$of_top"
cp prog anonymous && objcopy --remove-section .note.gnu.build-id anonymous || bail objcopy
strip -o stripped prog || bail strip
is "$(made -c program.conf ./stripped; cp cache/dddddddd-*.index bare; again -c program.conf ./prog; cmp -s bare \
	cache/dddddddd-*.index; echo $?)" '0 dd 
0 dd 
1' 'and one without names, if the file has some'
cp cache/dddddddd-*.index named
is "$(again -c program.conf ./stripped; cmp named cache/dddddddd-*.index)" '0 dd ' \
	'one with names is good for a stripped copy'
is "$(made -c program.conf ./anonymous; ls cache | sed 's/.*\.//' | LC_ALL=C sort | tr '\n' ' ')" '0 
index stamp ' 'a file without a build-id has one, too'
before=$(stat -c '%i %y' cache/*.index)
touch -d '2001-01-01' anonymous
again -c program.conf ./anonymous >out
is "$(stat -c '%i %y' cache/*.index) $(ls cache | grep -c stamp)" "$before 2" \
	'which serves it still, with another stamp, when it was touched'
echo 'int top_add(int); int main(void) { return top_add(2) != 4; }' >main.c
"$CC" -O1 -Wl,--build-id=none -o anonymous main.c -L. -ltop -Wl,-rpath-link,deep '-Wl,-rpath,$ORIGIN' 2>err ||
	bail "$CC: $(cat err)"
again -c program.conf ./anonymous >out
is "$(ls cache | grep -c 'index$')" 2 'and not when it was built anew'

# Where no folder takes them. Root may write anywhere, but not where there is a file.
rm -rf cache
: >cache
is "$(again -k entry -l 'libtop.so' ./prog)" \
	"0 xaudit record: indexes are made for this trace alone: they can't be kept in $tmp/cache: it is no folder, or \
a link to one" 'a folder that takes none is told'
is "$(stat -c '%a %n' d/index d/index/*.index | sed 's/-[0-9a-f]*\.index/.index/'
	ls d/index/*.stamp | wc -l)" '700 d/index
600 d/index/bbbbbbbb.index
1' 'the trace holds them, and their stamps'
is "$(bounded 60 "$XAUDIT" record -o d -k entry -l "$tmp/libtop.so" env 2>err | grep XAUDIT_INDEX)" \
	"XAUDIT_INDEX=$tmp/d/index" 'and the command is told so'
rm -rf d.old
again -k entry -l 'libtop.so' ./prog >out
ok 'such a trace is moved aside like others' test -e d.old/index/bbbbbbbb-*.index
: >d/index/other
again -k entry -l 'libtop.so' ./prog >out
again -k entry -l 'libtop.so' ./prog >out
like "$(cat err)" "d\.old can't be removed: it holds files of other origin; remove it yourself\$" \
	'but never removed with files of other origin'
rm -rf cache d d.old
echo '#!/no/such/interpreter' >broken && chmod +x broken
: >cache
bounded 60 "$XAUDIT" record -o d -k entry -l "$tmp/libtop.so" ./broken 2>err
is "$? $(ls -d d 2>&1 | grep -c '^d$')" '127 0' 'nothing is left if the command can not be executed'
rm -f cache

# What can't be analysed.
cp libtop.so whole.so
python3 - libtop.so <<'END' || bail python3
import struct, sys
with open(sys.argv[1], "r+b") as f:
    # The code lies 4 GiB apart: no index can be made.
    head = f.read(64)
    at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    for i in range(count):
        f.seek(at + i * size)
        type, flags = struct.unpack("<II", f.read(8))
        if type == 1 and flags & 1:
            f.seek(at + i * size + 32)
            f.write(struct.pack("<Q", 1 << 40))
END
is "$(made -k entry -l "$tmp/libtop.so" -l libdeep.so true)" "0 xaudit record: $tmp/libtop.so can't be analysed, so \
its functions have no kind entry: it is no x86-64 program or library" 'a file that can not be analysed is told'
mv whole.so libtop.so
done_testing
