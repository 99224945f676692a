#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Whose an index is, and how long it is kept: files of one build-id have each their own, copies share one, and a start
# looks at nothing but a stamp; what is not used, or is too much, goes. (t/index/index_open.c has the rest about
# stamps.)
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

# ---- two files of one build-id ----
# In the second a branch leads into the bytes that a jump over the beginning of the first would cover.
cat >twin.S <<'END'
	.globl f
	.type f,@function
f:	.cfi_startproc
	mov %edi,%eax
	nop
	dec %edi
	test %edi,%edi
#ifdef SECOND
	jg f+2
#else
	jg 2f
#endif
2:	ret
	.cfi_endproc
	.size f,.-f
	.section .note.GNU-stack
END
cat >main.c <<'END'
#include <stdio.h>
#include <unistd.h>
int f(int);
int main(int argc, char **argv)
{
	int sum = 0, n = 0;

	/* Until the file is there, at least once. */
	do {
		sum = f(5);
		n++;
	} while (argc > 1 && access(argv[1], F_OK) && (usleep(10000), n < 6000));
	printf("%d\n", sum);
	return 0;
}
END
build() { # FOLDER FLAG...
	mkdir -p "$1"
	folder=$1
	shift
	$CC -shared -nostdlib -o "$folder/libtwin.so" twin.S -Wl,-soname,libtwin.so \
		-Wl,--build-id=0x1234567890abcdef "$@" || bail 'no library'
}
build first
build second -DSECOND
$CC -O2 -o main main.c first/libtwin.so || bail 'no program'
# run FOLDER: how the program comes out, and how often f was seen.
run() {
	export LD_LIBRARY_PATH="$tmp/$1"
	record d -k entry -l libtwin.so ./main
	unset LD_LIBRARY_PATH
	report d
	seen=$(calls f)
	echo "$status $out ${seen:-0}"
}
# alone FOLDER [COMMAND]: the same, where the module finds, or has made, what it needs by itself.
alone() {
	printf '[trace]\noutput = %s\n[library libtwin.so]\nkinds = entry\n' "$tmp/d" >conf
	rm -rf d
	status=0
	out=$(bounded 60 env LD_LIBRARY_PATH="$tmp/$1" XAUDIT_CONFIG="$tmp/conf" XAUDIT_COMMAND="${2-$XAUDIT}" \
		LD_AUDIT="$MODULE" ./main 2>err) || status=$?
	seen=0
	[ ! -d d ] || report d
	[ ! -d d ] || seen=$(calls f)
	echo "$status $out ${seen:-0}"
}
# held: how many indexes and stamps there are.
held() {
	echo "$(find cache -name '*.index' | wc -l) $(find cache -name '*.stamp' | wc -l)"
}
is "$(run first)" '0 5 1' 'a function that can be displaced is seen'
is "$(run second)" '0 5 0' 'one that can not, in a file of the same build-id, does what it does'
is "$(held)" '2 2' 'each of both has an index of its own'
rm -r cache
is "$(run second) $(run first)" '0 5 0 0 5 1' 'whichever comes first'
rm -r cache
is "$(alone first) $(alone second) $(held)" '0 5 1 0 5 0 2 2' 'so it is where the module has them made'
rm -r cache
is "$(alone second) $(alone first)" '0 5 0 0 5 1' 'in whichever order'

# ---- the same file, with other bytes ----
# Its device, inode, size and time of change are what they were.
rm -r cache
build place
is "$(run place)" '0 5 1' 'a file has an index'
touch -r place/libtwin.so then
before=$(stat -c '%d %i %s %Y' place/libtwin.so)
cat second/libtwin.so >place/libtwin.so
touch -r then place/libtwin.so
is "$(stat -c '%d %i %s %Y' place/libtwin.so)" "$before" 'another one is written into it, with its size and time'
is "$(run place)" '0 5 0' 'it gets another index'
is "$(alone place)" '0 5 0' 'which the module takes'

# ---- copies ----
rm -r cache
is "$(run first)" '0 5 1' 'a file has an index'
before=$(stat -c '%n %i %y' cache/*.index)
mkdir copy named stripped
cp first/libtwin.so copy
is "$(run copy) $(held)" '0 5 1 1 2' 'its copy shares it, with a stamp of its own'
strip -o stripped/libtwin.so first/libtwin.so
is "$(run stripped | cut -d' ' -f1,2) $(held)" '0 5 1 3' 'so does a stripped one'
ln first/libtwin.so named
is "$(run named) $(held)" '0 5 1 1 4' 'and one that got another name, and so another time of change'
chmod go-r first/libtwin.so
is "$(alone first) $(held)" '0 5 1 1 5' 'or other rights, where the module asks'
is "$(stat -c '%n %i %y' cache/*.index)" "$before" 'it was not made again'
is "$(alone first /no/such; cat err)" '0 5 1' 'with a stamp nobody is asked'
rm cache/*.stamp
bounded 60 "$XAUDIT" list copy/libtwin.so >out 2>err
is "$? $(held) $(stat -c '%n %i %y' cache/*.index)" "0 1 0 $before" 'list needs no stamp, and makes none'

# ---- a running process ----
# Somebody else's trace, as it were, has left the index of the other.
rm -rf cache stop
is "$(run first)" '0 5 1' 'a file has an index'
printf '[trace]\noutput = %s\ncontrol = any\n' "$tmp/running" >conf
LD_LIBRARY_PATH=$tmp/second XAUDIT_CONFIG=$tmp/conf LD_AUDIT=$MODULE ./main "$tmp/stop" >out 2>err &
pid=$!
wait_until 60 grep -q libtwin.so "/proc/$pid/maps"
answer=1
for try in 1 2 3 4 5 6 7 8 9 10; do
	bounded 60 "$XAUDIT" ctl $pid enable 'entry:f@libtwin.so' >told 2>&1 && answer=0 && break
	sleep 0.2
done
sleep 0.2
: >stop
wait $pid
is "$? $(cat out)" '0 5' 'ctl takes no index of another file for a process'"'"'s'
like "$(cat told)" '1 function not: a branch' "but one of its own ($answer)"

# ---- what goes ----
rm -rf cache
index_of first/libtwin.so
made=$(cd cache && ls *.index)
# fake NAME SIZE DAYS: an index that was made and used so many days ago. No other goes for its size on the disk.
fake() {
	cp "cache/$made" "cache/$1"
	truncate -s "$2" "cache/$1"
	touch -d "$3 days ago" "cache/$1"
}
# left: what of the folder is not the library's own.
left() {
	(cd cache && ls -A | grep -v "^$made\$\|^$(stamp_name "$tmp/first/libtwin.so")\$" | tr '\n' ' ')
}
fake 1111.index 1M 29
fake 2222.index 1M 31
fake 3333.index 1M 29
touch -a -d '1 day ago' cache/3333.index
fake 4444.index 1M 29
touch -m -d '400 days ago' cache/4444.index
echo text >cache/notes.index
echo text >victim
ln -s ../victim cache/link.index
mkdir cache/folder.index
for name in cache/notes.index cache/folder.index; do touch -d '400 days ago' $name; done
touch -h -d '400 days ago' cache/link.index
echo "$made" >cache/1-2-3-4-5.stamp
echo "$made" >cache/6-7-8-9-a.stamp
touch -h -d '31 days ago' cache/1-2-3-4-5.stamp
touch -h -d '29 days ago' cache/6-7-8-9-a.stamp
for name in .1111.index.77 .1-2-3-4-5.stamp.77 .profile .index.text; do
	echo text >cache/$name
	touch -d '2 days ago' cache/$name
done
echo text >cache/.2222.index.78
bounded 60 "$XAUDIT" index -nq second/libtwin.so
is "$? $(left | wc -w)" '0 14' 'a dry run removes nothing'
index_of first/libtwin.so
is "$(left)" ".2222.index.78 .index.text .profile 1111.index 3333.index 4444.index 6-7-8-9-a.stamp folder.index \
link.index notes.index " \
	'what was not used for 30 days goes, and what killed writers left; what is nothing of this stays'
is "$(cat victim)" text 'no link is followed'
if [ "$(id -u)" -eq 0 ]; then
	fake 5555.index 1M 31
	chown 1234 cache/5555.index
	index_of first/libtwin.so
	is "$(ls cache/5555.index)" cache/5555.index "nor does somebody else's file go"
	rm cache/5555.index
else
	skip 1 'only root can give files away'
fi

# Together they may have 256 MiB.
fake 6666.index 100M 3
fake 7777.index 100M 2
touch -a -d '5 days ago' cache/7777.index
fake 8888.index 100M 4
touch -a -d '1 hour ago' cache/8888.index
index_of first/libtwin.so
is "$(left | grep -o '[0-9][0-9]*\.index ' | tr -d '\n')" '3333.index 7777.index 8888.index ' \
	'of more than 256 MiB those go that were used longest ago'
rm cache/3333.index cache/7777.index cache/8888.index
truncate -s 300M "cache/$made"
fake 9999.index 1M 1
bounded 60 "$XAUDIT" index -q --cache=cache first/libtwin.so second/libtwin.so
is "$? $(ls cache/9999.index "cache/$made" | wc -l)" '0 2' 'what a command has just made replaces what was too large'

# ---- what use is ----
touch -d '40 days ago' "cache/$made"
is "$(run first)" '0 5 1' 'an index that was not used for long is used'
used=$(stat -c %x "cache/$made")
index_of second/libtwin.so
ok 'and so it stays' test -e "cache/$made"
is "$(run first) $(stat -c %x "cache/$made")" "0 5 1 $used" 'its time is set once a day'
touch -d '40 days ago' "cache/$made" cache/9999.index
cat cache/9999.index >/dev/null
if [ "$(find cache -name 9999.index -atime -1)" ]; then
	is "$(alone first)" '0 5 1' 'also where the module alone uses it'
	index_of second/libtwin.so
	ok 'it stays' test -e "cache/$made"
else
	skip 2 'the file system keeps no times of access'
fi

# ---- an index of another version before a good one ----
# The own folder comes first; what lies there since before an update is made again, whatever other folders have.
mkdir -p home old
XAUDIT_INDEX=$tmp/home/xaudit "$XAUDIT" index -q first/libtwin.so || bail 'no index'
XAUDIT_INDEX=$tmp/old "$XAUDIT" index -q first/libtwin.so || bail 'no index'
old=$(ls old/*.index)
cp "$old" whole
printf '\001' | dd of="$old" bs=1 seek=8 conv=notrunc 2>dd.err
XAUDIT_INDEX=$tmp/old XDG_CACHE_HOME=$tmp/home "$XAUDIT" index -q --kept first/libtwin.so
is "$? $(cmp "$old" whole 2>&1)" '0 ' 'an index of another version is made again, though another folder has a good one'

# ---- several at once ----
# One trims what others put there, all the time.
for i in 1 2 3 4 5 6 7 8; do
	fake "aa$i.index" 60M $((i + 1))
done
for i in 1 2 3 4; do
	(
		for round in 1 2 3 4 5; do
			"$XAUDIT" index -q --cache=cache first/libtwin.so second/libtwin.so copy/libtwin.so 2>&1 ||
				echo "failed: $?"
		done
	) >"said.$i" &
done
wait
is "$(cat said.*)" '' 'four commands at once do each other no harm'
is "$(run first) $(run second)" '0 5 1 0 5 0' 'and leave what is needed'
ok 'and no more than 256 MiB' test "$(stat -c %s cache/*.index | awk '{ sum += $1 } END { print sum }')" -le 268435456
is "$(ls -A cache | grep -c '^\.[0-9a-f].*\.[0-9]*$')" 1 'nothing is left of what they wrote'
done_testing
