#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which user owns the files of a trace, and that no other user can choose where they are.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
# late FOLDER: a call, then FOLDER/begun; when there is a FOLDER/go, more calls in another thread.
cat >late.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
void counted(void);
static void *more(void *unused)
{
	for (int i = 0; i < 1000; i++)
		counted();
	return unused;
}
int main(int argc, char **argv)
{
	char path[500];
	pthread_t thread;
	(void)argc;
	counted();
	snprintf(path, sizeof(path), "%s/begun", argv[1]);
	close(open(path, O_CREAT | O_WRONLY, 0666));
	snprintf(path, sizeof(path), "%s/go", argv[1]);
	for (int i = 0; i < 1500 && access(path, F_OK); i++)
		usleep(20000);
	pthread_create(&thread, NULL, more, NULL);
	pthread_join(thread, NULL);
	return 7;
}
END
$CC -O1 -pthread -o late late.c -L. -lcounted -Wl,-rpath,'$ORIGIN' || bail 'a program does not compile'

# wrong FOLDER...: files there with another mode than 0700 or 0600.
wrong() {
	find "$@" \( -type d ! -perm 700 -o ! -type d ! -perm 600 \) -printf '%m %P '
}

# ---- whatever the umask ----
(umask 0 && bounded 60 "$XAUDIT" record -o open -m ring --snapshot=exit -k plt -l libcounted.so ./count 1 \
	1000 >/dev/null 2>err)
is "$(cat err)$(wrong open open.snapshot.1)" '' \
	'with umask 0, folders are 0700 and files 0600: of a trace, and of a snapshot that the process takes'
is "$(find open open.snapshot.1 -type f | sed 's/[0-9]*$//; s,/p[0-9]*/,/p/,' | sort | tr '\n' ' ')" \
	'open.snapshot.1/p/meta open.snapshot.1/p/t open/p/meta open/record ' 'and these are they'
(umask 0 && bounded 60 "$XAUDIT" ctl open/p* snapshot -o outside &&
	bounded 60 "$XAUDIT" check -o check.txt ./count 1 1) >out 2>err
is "$(cat err)$(wrong outside check.txt)" '' 'of a snapshot that the command takes, and of a report, too'
(umask 0277 && bounded 60 "$XAUDIT" record -o shut -k plt -l libcounted.so ./count 1 1000 >/dev/null 2>err)
is "$(cat err)$(wrong shut)" '' 'a umask that takes more away does not, either'
report shut
is "$(calls counted)" 1000 'and the calls are there'

# ---- links ----
cannot="xaudit: can't make the trace folder:"
mkdir real
ln -s real link
status=0
bounded 60 "$XAUDIT" record -o link ./count 1 1 >out 2>err || status=$?
is "$status/$(cat err)/$(ls real)" \
	"125/xaudit record: $tmp/link exists and is a link, which is not followed; name another one with -o/" \
	'a trace folder that is a link is refused by record, before the command runs'
printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/link" >link.conf
status=0
XAUDIT_CONFIG=link.conf bounded 60 env LD_AUDIT="$MODULE" ./count 1 1000 >out 2>err || status=$?
is "$status/$(cat out)/$(cat err)/$(ls real)" \
	"7/1000/$cannot a file or link is in the way at $tmp/link; the program runs on, untraced/" \
	'and by the module: the program runs untraced'
mkdir safe
echo precious | tee safe/meta safe/t0 >precious
for d in swap swap.old; do
	mkdir $d
	echo "$d" >$d/record
done
ln -s ../safe swap.old/p1
status=0
bounded 60 "$XAUDIT" record -o swap ./count 1 1 >out 2>err || status=$?
is "$status/$(cat err)/$(cat swap/record swap.old/record safe/meta safe/t0 | tr '\n' ' ')" \
	"125/xaudit record: the older trace $tmp/swap.old can't be removed: it holds files of other origin; \
remove it yourself/swap swap.old precious precious " \
	'DIR.old with a link in it: nothing is removed, here or there'

# A process's folder is replaced by another one, whose names are links to other users' files.
# swapped SENTENCE COMMAND...: replaces it while `late .` runs.
swapped() {
	sentence=$1
	shift
	rm -rf away begun go
	status=0
	bounded 60 "$XAUDIT" record -o swapped -k plt -l libcounted.so ./late . >out 2>err &
	job=$!
	wait_until 60 test -e begun
	name=$(ls swapped | grep '^p')
	mv "swapped/$name" away
	"$@" "swapped/$name"
	: >go
	wait $job || status=$?
	is "$status/$(cat safe/* | tr '\n' ' ')/$(ls safe)" '7/precious precious /meta
t0' "$sentence: nothing is written there, and the program runs as ever"
	rm -rf "swapped/$name"
	mv away "swapped/$name"
	report swapped
	# The file ends where its places do: a thread that begins when the path is gone has none.
	is "$(calls counted) and $(printf '%s\n' "$report" | jq .lost)" '1 and 2000' \
		"$sentence: the call before is where the file is, those of a later thread are counted as lost"
}
link_to_safe() {
	ln -s "$tmp/safe" "$1"
}
folder_of_links() {
	mkdir "$1"
	for n in 0 1 2; do ln -s "$tmp/safe/t0" "$1/t$n"; ln -s "$tmp/safe/t0" "$1/r$n"; done
	ln -s "$tmp/safe/meta" "$1/meta"
}
swapped 'a link in the place of the process folder' link_to_safe
swapped 'another folder in its place' folder_of_links

# ---- another user's folders ----
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null 2>&1; then
	skip 8 'not root, or no setpriv'
	done_testing
fi
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
mkdir -m 1777 shared
$nobody mkdir shared/theirs
status=0
bounded 60 "$XAUDIT" record -o shared/theirs ./count 1 1 >out 2>err || status=$?
is "$status/$(cat err)/$(ls shared/theirs)" \
	"125/xaudit record: $tmp/shared/theirs exists and belongs to another user; name another one with -o/" \
	"another user's folder is refused by record, before the command runs"
printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/shared/theirs" >theirs.conf
status=0
XAUDIT_CONFIG=theirs.conf bounded 60 env LD_AUDIT="$MODULE" ./count 1 1000 >out 2>err || status=$?
is "$status/$(cat out)/$(cat err)/$(ls shared/theirs)" \
	"7/1000/$cannot another user made $tmp/shared/theirs; the program runs on, untraced/" \
	'and by the module: the program runs untraced'
$nobody sh -c 'echo theirs >shared/report'
status=0
bounded 60 "$XAUDIT" check -o shared/report ./count 1 1 >out 2>err || status=$?
is "$status/$(cat err)/$(cat shared/report)" \
	"125/xaudit check: shared/report can't be written: it belongs to another user; name another file with \
-o/theirs" \
	'so is a file for the report of check'

# In a folder that all users may write to, as in README; and root reads what root recorded.
printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/shared/server.%p.xaudit" >server.conf
XAUDIT_CONFIG=server.conf bounded 60 env LD_AUDIT="$MODULE" ./count 1 1000 >out 2>err
mv shared/server.*.xaudit served
report served
is "$(cat err)$(calls counted)/$(wrong served)" '1000/' 'a folder in one that all may write to is made as ever'

# An existing folder keeps its mode: programs that root starts as other users can write into one that all users may
# write to.
mkdir -m 755 reached
install -m 755 "$MODULE" "$XAUDIT" count libcounted.so reached
mkdir -m 1777 given
status=0
XAUDIT_MODULE=$tmp/reached/libxaudit.so bounded 60 "$XAUDIT" record -o given -k plt -l libcounted.so \
	$nobody reached/count 1 1000 >out 2>err || status=$?
report given
is "$status/$(calls counted)/$(stat -c '%a %u' given/p* | sort -u | tr '\n' ' ')" '7/1000/700 0 700 65534 ' \
	"a program that runs as another user writes into root's folder that is there, if that lets it"

# ---- programs that run with rights of others ----
# ld.so takes an auditor there only by a bare name, from the system's folders, and if it is set-user-ID itself. In
# mounts of our own, the module replaces a library that no program loads.
place=$(ldconfig -p 2>/dev/null | sed -n 's,.*x86-64.* => \(/.*/libBrokenLocale\.so\.1\)$,\1,p' | head -n 1)
install -m 4755 "$MODULE" libsecure.so
program "$CC" secure count.c "$sources/counted.c"
for mode in 755 4755; do
	chmod $mode secure
	mkdir -m 777 "made.$mode"
	[ -z "$place" ] || unshare -m sh -c 'mount --bind libsecure.so "$1" && cd "$2" && shift 2 && exec "$@"' - \
		"$place" "made.$mode" timeout 60 $nobody env LD_AUDIT="${place##*/}" \
		XAUDIT_RULES="$(printf '[trace]\noutput = d\n[program]\nkinds = calls\n')" ../secure 1 \
			10 >"out.$mode" 2>&1
done
if [ -e made.755/d ]; then
	is "$(cat out.4755)/$(ls made.4755)" '10/' 'in a set-user-ID program the module makes nothing'
else
	skip 1 'no mounts of its own, or no library of that name here'
fi

# A user without any privilege, and with a umask that masks everything.
status=0
(umask 0777 && XAUDIT_MODULE=$tmp/reached/libxaudit.so HOME=/nonexistent bounded 60 $nobody reached/xaudit record \
	-b 64k -o shared/mine \
	-k plt -l libcounted.so reached/count 1 40000 >out 2>err) || status=$?
is "$status/$(cat err)/$(wrong shared/mine)" '7//' \
	'a user who is not root and whose umask is 0777 has folders of 0700 and files of 0600'
report shared/mine
is "$(calls counted)/$(sums)" '40000/0 lost 0 unfinished' 'with all calls, in pieces that were opened again'
done_testing
