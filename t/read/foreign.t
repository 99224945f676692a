#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files that somebody else made, or changes while we read them: what the commands open because a trace, or a file, says
# so; and files that are cut off while they are looked at.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/written.sh"
need objcopy

library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted

# ---- nothing but regular files is opened ----
# To open a FIFO lets go who waits to write into it; a device may do worse.

# waits SENTENCE COMMAND...: runs the command, while a writer waits at ./fifo; it waits still.
waits() {
	sentence=$1
	shift
	rm -f fifo begun opened
	mkfifo fifo
	sh -c ': >begun; exec 3>fifo; : >opened' &
	writer=$!
	wait_until 60 test -e begun
	wait_until 60 grep -q '^State:.S' "/proc/$writer/status"
	bounded 60 "$@" >out 2>err </dev/null
	last=$?
	test ! -e opened
	waited=$?
	timeout 10 sh -c ': <fifo'
	wait "$writer"
	is "$last $waited $(test -e opened && echo opened)" "$expected 0 opened" "$sentence"
}
write_trace written <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 $tmp/fifo build=0123456789abcdef
function 1 0 1 0x1000 first
thread 100 main
entry 1 1200
exit 1 1300
END
expected=0
waits 'what a trace calls an object is not opened if it is no file, for its lines' \
	"$XAUDIT" report --srcline written
expected=1
for file in p100/meta p100/t0; do
	rm -rf linked
	cp -r written linked
	rm -f linked/$file
	ln -s "$tmp/fifo" linked/$file
	waits "nor is what stands in the place of $file" "$XAUDIT" report linked
	like "$(cat err)" "linked/$file: this is not a file" "$file: and that is said"
done
for file in record sched; do
	case $file in
	record) expected=0 ;;
	*) expected=1 ;;
	esac
	rm -rf linked
	cp -r written linked
	rm -f linked/$file
	ln -s "$tmp/fifo" linked/$file
	waits "nor of $file" "$XAUDIT" info linked
done
expected=1
waits 'nor as a packed trace' "$XAUDIT" report fifo
waits 'nor for an index' "$XAUDIT" index -n fifo
waits 'nor to be listed' "$XAUDIT" list fifo

# The file names its debug file.
printf 'not for long' >fifo.debug
for id in sha1 none; do
	$CC -shared -fPIC -O1 -Wl,--build-id=$id -o plain.so "$sources/counted.c" || bail 'no library'
	objcopy --strip-all --add-gnu-debuglink=fifo.debug plain.so linked.so || bail 'no debuglink'
	mv fifo.debug kept.debug
	ln -s fifo fifo.debug
	expected=0
	waits "nor as a debug file, of a file with build-id $id" "$XAUDIT" index -n linked.so
	rm fifo.debug
	mv kept.debug fifo.debug
done

# ---- debug files ----
cat >hidden.c <<'END'
static __attribute__((noinline, used)) int hidden(int n)
{
	volatile int sum = n;
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}
int shown(int n) { return hidden(n) + 1; }
END
# names: does the index of stripped.so have the name that only its debug file tells?
names() {
	bounded 60 "$XAUDIT" index -nv stripped.so 2>err | grep -c ' hidden$'
	cat err
}
mkdir -p .debug
for id in sha1 none; do
	$CC -g -shared -fPIC -O1 -Wl,--build-id=$id -o whole.so hidden.c || bail 'no library'
	objcopy --only-keep-debug whole.so whole.debug
	objcopy --strip-all --add-gnu-debuglink=whole.debug whole.so stripped.so || bail 'no debuglink'
	is "$(names)" 1 "build-id $id: a debug file beside the file is used"
	mv whole.debug .debug
	is "$(names)" 1 "build-id $id: and one in .debug"
	$CC -g -shared -fPIC -O2 -Wl,--build-id=$id -Dshown=other -o other.so hidden.c || bail 'no library'
	objcopy --only-keep-debug other.so .debug/whole.debug
	is "$(names)" 0 "build-id $id: but none of another file"
	rm .debug/whole.debug
	# Who names a file in another way says nothing about its debug file.
	objcopy --only-keep-debug whole.so whole.debug
	mkdir -p named/.debug && cp whole.debug named/.debug && ln -sf ../stripped.so named/linked.so
	mv whole.debug kept.debug
	is "$(bounded 60 "$XAUDIT" index -nv named/linked.so | grep -c ' hidden$')" 0 \
		"build-id $id: nor one beside a link to the file"
	mv kept.debug whole.debug
	chmod 666 whole.debug
	is "$(names)" 0 "build-id $id: nor one that others may change"
	chmod 644 whole.debug
	if [ "$(id -u)" -eq 0 ]; then
		chown 1234 whole.debug
		is "$(names)" 0 "build-id $id: nor another user's"
		chown 0 whole.debug
	else
		skip 1 'only root can give files away'
	fi
	mv whole.debug .debug
	chmod 777 .debug
	is "$(names)" 0 "build-id $id: nor one in a folder that others may write to"
	chmod 755 .debug
	is "$(names)" 1 "build-id $id: (it is the right one)"
	rm .debug/whole.debug
done

# ---- files that are cut off while they are looked at ----
$CC -O2 -o cut "$beside/cut.c" || bail 'cut.c does not compile'
cp "$MODULE" large
# cut_while WHOSE WORDS
cut_while() {
	rm -f stop
	cp large cut.so
	[ "$1" = ours ] || chown 65534 cut.so
	./cut cut.so stop &
	cutter=$!
	statuses=
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		for command in 'index -n' list; do
			status=0
			bounded 60 "$XAUDIT" $command cut.so >/dev/null 2>err || status=$?
			case $status in
			0 | 1) ;;
			*) statuses="$statuses $command $status" ;;
			esac
		done
	done
	: >stop
	wait $cutter
	is "$? $statuses" '0 ' "a file of $2 that is cut off and grows, again and again: index and list end as ever"
}
cut_while ours 'our own'
if [ "$(id -u)" -eq 0 ]; then
	cut_while theirs "another user"
else
	skip 1 'not root'
fi
if truncate -s 2G huge 2>/dev/null; then
	chmod 664 huge
	is "$(bounded 60 "$XAUDIT" index -n huge 2>&1)" 'xaudit index: huge: not an x86-64 ELF file' \
		'a file of our own may be of any size, also where our group may write to it'
	if [ "$(id -u)" -eq 0 ] && chown 65534 huge; then
		is "$(bounded 60 "$XAUDIT" index -n huge 2>&1)" 'xaudit index: huge: File too large' \
			"another user's of 2 GiB is not copied into our memory"
	else
		skip 1 'not root'
	fi
else
	skip 2 'no files of 2 GiB here'
fi

# ---- folders on the way that are exchanged ----
# When a folder has been made in ./way/sub, a link to ./victim takes the place of that; there is one of that name, ours.
$CC -O2 -o swap_at "$beside/swap_at.c" || bail 'swap_at.c does not compile'
record whole -k plt -l libcounted.so ./count 1 1000
process=$(ls whole | grep '^p')
bounded 60 "$XAUDIT" pack -o made.pack whole >/dev/null || bail 'pack fails'
printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/way/sub/made" >way.conf
# exchanged SENTENCE STATUS COMMAND...
exchanged() {
	sentence=$1 ends=$2
	shift 2
	rm -rf way victim
	mkdir -p way/sub victim/made
	status=0
	bounded 60 ./swap_at way/sub/made 'mv way/sub way/away && ln -s ../victim way/sub' "$@" >out 2>err || status=$?
	is "$status $(ls victim/made)" "$ends " "$sentence: nothing is made elsewhere"
	report way/away/made
	is "$(calls counted)" 1000 "$sentence: it is where the way led at first"
}
exchanged unpack 0 "$XAUDIT" unpack -o way/sub/made made.pack
exchanged 'ctl snapshot' 0 "$XAUDIT" ctl "whole/$process" snapshot -o way/sub/made
exchanged 'the module' 7 env XAUDIT_CONFIG=way.conf LD_AUDIT="$MODULE" ./count 1 1000

# ---- indexes for all users ----
# Two libraries of one build-id, of which one belongs to another user, who had a say in what an index of it holds.
if [ "$(id -u)" -eq 0 ] && unshare -m sh -c 'mount -t tmpfs none /var/cache' 2>/dev/null; then
	mkdir -p theirs
	for folder in . theirs; do
		library "$CC" $folder/libcounted.so counted.c -Wl,--build-id=0x0123456789abcdef
	done
	chown 65534 theirs/libcounted.so
	bounded 200 unshare -m sh -c 'mount -t tmpfs none /var/cache || exit
		unset XAUDIT_INDEX
		kept() {
			ls /var/cache/xaudit 2>/dev/null | sed -n "s/-.*\.index/.index/p"
		}
		"$XAUDIT" index -q theirs/libcounted.so 2>refused
		echo "$?"
		kept
		LD_LIBRARY_PATH=$tmp/theirs "$XAUDIT" record -o aside -k entry -l libcounted.so ./count 1 1000 \
			>out 2>told
		echo "$?"
		kept
		"$XAUDIT" index -q libcounted.so
		echo "$?"
		kept' >indexed 2>err
	is "$(tr '\n' ' ' <indexed)$(cat err)" '1 7 0 0123456789abcdef.index ' \
		"none of another user's file comes into the folder for all, by index or record; of root's it does"
	is "$(cat refused)" "xaudit index: theirs/libcounted.so: can't be kept in /var/cache/xaudit: another user \
may change the file, and what it says of its functions" 'index says why'
	aside=$(ls aside/index | sed -n 's/-.*\.index/.index/p')
	is "$(cat told)/$aside" "xaudit record: indexes of 1 file that other users may change are made for \
this trace alone/0123456789abcdef.index" 'record makes one for the trace, and says so'
	report aside
	is "$(calls counted)" 1000 'which the program used'
else
	skip 4 'no mounts of its own here'
fi

# ---- sizes that make no sense ----
# A sparse file costs who made it nothing; it must not cost a reader, or a copy, time or room.
rm -rf sparse copied
record sparse -b 64k -k plt -l libcounted.so ./count 1 40000
process=$(ls sparse | grep '^p')
if truncate -s 8T "sparse/$process/t0" 2>/dev/null; then
	status=0
	bounded 60 "$XAUDIT" ctl "sparse/$process" snapshot -o copied >out 2>err || status=$?
	report copied
	is "$status $(cat err)$(calls counted)" '0 40000' \
		'a snapshot of a trace with a file of 8 TiB, nearly all of it a hole'
else
	skip 1 'no files of 8 TiB here'
fi
$CC -O2 -I"$top_srcdir" -o grow_record "$beside/grow_record.c" || bail 'grow_record.c does not compile'
rm -rf grown copied
cp -r sparse grown
rm -f "grown/$process/t0"
if ./grow_record "grown/$process/meta" 2>/dev/null; then
	status=0
	bounded 60 "$XAUDIT" ctl "grown/$process" snapshot -o copied >out 2>err || status=$?
	is "$status $(wc -l <err)" "$status $status" 'a record of 2 GiB: the copy comes to an end'
	ok 'and takes as much of the disk as what there is' test \
		"$(du -sk copied 2>/dev/null | awk '{ kb = $1 } END { print kb + 0 }')" -lt 65536
else
	skip 2 'no large files here'
fi
done_testing
