#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hostile surroundings: full disks, limits, sandboxes, lost folders and descriptors. The program behaves as without us,
# the trace can be read, and each call is in it or counted as lost.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
chmod 755 "$tmp"

# accounts CALLS: is each call in the trace d (or $2), or counted there as lost? A call is two events.
accounts() {
	report "${2:-d}"
	if [ "$report_status" -ne 0 ] || [ -s .report-err ]; then
		echo "report ends with $report_status: $(cat .report-err)"
		return
	fi
	printf '%s\n' "$report" | jq -r --argjson n "$1" \
		'([.functions[] | select(.function == "counted") | .calls] | add // 0) as $calls |
		if .lost == 2 * ($n - $calls) + .unfinished and .unfinished <= 1
		then (if .lost > 0 then "some lost" else "none lost" end)
		else "of \($n) calls \($calls) are there, \(.lost) events lost, \(.unfinished) unfinished" end'
}
# of_program: its lines without those that record prints at its end, which say what was lost.
of_program() {
	sed 's/xaudit record: .*//; /^$/d'
}
# run WHAT [ARGUMENT]: untraced with output to plain, and recorded into d; the status follows the output.
run() {
	status=0
	bounded 60 ./hostile "$@" >plain 2>&1 || status=$?
	echo "status $status" >>plain
	calls=$(sed -n 's/ calls$//p' plain)
}
# hostile SENTENCE EXPECTED WHAT [ARGUMENT]: EXPECTED: some lost, none lost, or a pattern of both.
hostile() {
	sentence="$name: $1" expected=$2
	shift 2
	run "$@"
	record d -b 64k -k "$kind" -l libcounted.so ./hostile "$@"
	is "$(printf '%s\n%s\nstatus %s\n' "$out" "$err" "$status" | of_program)" "$(cat plain)" \
		"$sentence: the program behaves as ever"
	like "$(accounts "$calls")" "^($expected)\$" "$sentence: all calls are accounted for"
}

# in_mounts SENTENCE EXPECTED PREPARATION WHAT [ARGUMENT]: as hostile, in mounts of its own; there d lies in ./small.
in_mounts() {
	sentence="$name: $1" expected=$2 preparation=$3
	shift 3
	if [ -z "$mounts" ]; then
		skip 2 'no mounts of its own here'
		return
	fi
	rm -rf d small
	mkdir small
	touch small/filler
	run "$@"
	touch small/filler
	bounded 90 unshare -m sh -c "mount -t tmpfs -o size=1m none small && $preparation"'
		XAUDIT=$1 kind=$2 XAUDIT_MODULE=$MODULE LD_LIBRARY_PATH=. status=0
		# Without /proc the command does not know where it is, nor does ld.so.
		export XAUDIT_MODULE LD_LIBRARY_PATH
		shift 2
		"$XAUDIT" record -o small/d -b 64k -k "$kind" -l libcounted.so ./hostile "$@" >traced 2>&1 || status=$?
		echo "status $status" >>traced
		cp -r small/d . 2>err' - "$XAUDIT" "$kind" "$@" || diag "ended with $?"
	is "$(of_program <traced)" "$(cat plain)" "$sentence: the program behaves as ever"
	like "$(accounts "$calls")" "^($expected)\$" "$sentence: all calls are accounted for"
}
mounts=
if [ "$(id -u)" -eq 0 ] && unshare -m sh -c 'mkdir -p small && mount -t tmpfs -o size=1m none small' 2>/dev/null; then
	mounts=1
fi
namespaces=
if unshare -U true 2>/dev/null; then namespaces=1; fi

# all NAME KIND BUILD...
all() {
	name=$1 kind=$2
	shift 2
	"$@" libcounted.so counted.c
	mkdir -p late
	"$@" late/libcounted.so counted.c -DWITH_ADDRESS
	program "$CC" hostile hostile.c -L. -lcounted
	is "$(./hostile)" '101000 calls' "$name: (the program does what it is for)"
	hostile 'nothing hostile' 'none lost' ''

	# Where record keeps up with a slow program, an event takes no more than 1.7 bytes: what is free, 164 KiB, has
	# no room for half of those that come until then.
	in_mounts 'a disk that is full' 'some lost' 'head -c 860k /dev/zero >small/filler' threads
	in_mounts 'a disk that is full for some time' 'some lost' \
		'head -c 860k /dev/zero >small/filler' freed small/filler
	if [ -n "$mounts" ]; then
		dump d
		ok "$name: and after it calls are recorded again" \
			test "$(jq -n '[inputs | select(.event == "entry") | .time_ns] |
			(max - min) > 2500000000' d.json)" = true
	else
		skip 1 'no mounts of its own here'
	fi
	in_mounts '/proc is not mounted' 'none lost' 'mount -o remount,size=64m none small; umount -l /proc;' threads
	in_mounts '/proc is read only' 'none lost' \
		'mount -o remount,size=64m none small; mount -o remount,bind,ro /proc;' threads

	hostile 'all descriptors are in use' 'none lost' descriptors
	hostile 'RLIMIT_AS' '.* lost' memory
	hostile 'RLIMIT_FSIZE' 'none lost' file-size
	hostile 'a sandbox that refuses to open and map files' 'none lost' sandbox
	hostile 'a sandbox that refuses all but to write and to exit' 'some lost' strict-sandbox
	hostile 'a sandbox that kills for all but what tracing is documented to need' 'none lost' kill-sandbox
	killed
	hostile 'umask 0777' 'none lost|some lost' umask
	if [ "$(id -u)" -eq 0 ]; then
		mkdir -p empty
		hostile 'another root' 'none lost' chroot empty
		hostile 'another user' 'none lost' nobody
	else
		skip 4 'not root'
	fi
	vanishing
	descriptors
	daemons
	if [ -n "$namespaces" ]; then
		run namespaces
		record d -b 64k -k "$kind" -l libcounted.so ./hostile namespaces
		is "$(printf '%s\n%s\nstatus %s\n' "$out" "$err" "$status" | of_program)" "$(cat plain)" \
			"$name: namespaces of its own: the program behaves as ever"
		like "$(accounts 202000)" '^(none lost|some lost)$' \
			"$name: all calls of both processes are accounted for"
	else
		skip 2 'no user namespaces here'
	fi
}

# The only surroundings in which a program ends that would go on without us: xaudit-record(1) says so.
killed() {
	run strict-kill-sandbox stored
	is "$(tail -n 1 plain), $(ended) calls" 'status 0, 101000 calls' \
		"$name: (a sandbox that kills for all but to write and to exit lets calls come to their end)"
	record d -b 64k -k "$kind" -l libcounted.so ./hostile strict-kill-sandbox stored
	is "$status" 159 "$name: a sandbox that kills for all but to write and to exit does so"
	report d
	# What is recorded when the end comes may be the end of a call, which is open then.
	is "$(printf '%s\n' "$report" |
		jq -c '[.lost, .unfinished <= 1, (.functions | map(.calls) | add) - .unfinished]')" \
		"[0,true,$(ended)]" "$name: and the trace holds the calls till then"
	ok "$name: which are some" test "$(ended)" -ge 1000 -a "$(ended)" -lt 101000
}
# ended: how many calls came to their end, as the program stored it.
ended() {
	od -A n -t d8 stored | tr -d ' '
}

vanishing() {
	mkdir -p plain.d && rm -rf plain.d.moved
	run move plain.d
	rm -rf d.moved
	record d -b 64k -k "$kind" -l libcounted.so ./hostile move "$tmp/d"
	is "$(printf '%s\nstatus %s\n' "$out" "$status")" "$(cat plain)" \
		"$name: the folder is renamed: the program behaves as ever"
	is "$(accounts "$calls" d.moved)" 'none lost' "$name: the folder is renamed: all calls are accounted for"
	mkdir -p plain.d
	run remove "rm -r $tmp/plain.d"
	record d -b 64k -k "$kind" -l libcounted.so ./hostile remove "rm -r $tmp/d"
	is "$(printf '%s\nstatus %s\n' "$out" "$status")" "$(cat plain)" \
		"$name: the folder is removed: the program behaves as ever"
	is "$(printf '%s\n' "$err" | grep '^xaudit record:')" \
		"xaudit record: the trace folder $tmp/d was removed while the command ran, so there is no trace" \
		"$name: the folder is removed: and that is said"
}

descriptors() {
	rm -rf plain.d traced.d
	mkdir plain.d traced.d
	run reuse plain.d
	record d -b 64k -k "$kind" -l libcounted.so ./hostile reuse traced.d
	is "status $status" "$(tail -n 1 plain)" "$name: descriptors closed and used again: the program ends as ever"
	ok "$name: and its files hold what it wrote" diff -r plain.d traced.d
	is "$(accounts 101000)" 'none lost' "$name: and all its calls are there"
}

daemons() {
	rm -f plain.done traced.done
	run daemon "$tmp/plain.done"
	record d -b 64k -k "$kind" -l libcounted.so ./hostile daemon "$tmp/traced.done"
	ok "$name: a daemon comes to its end" wait_until 60 test -e traced.done -a -e plain.done
	is "$(cat traced.done) $status" "$(cat plain.done) 0" "$name: as it does untraced"
	# It renames its file before it exits.
	wait_until 60 sh -c 'test "$("$1" info --format=json d |
		jq -c ".processes | map(.ended) | sort")" = "[false,true]"' - "$XAUDIT"
	is "$(accounts 101000)" 'none lost' "$name: a daemon's calls are all there"
}

all plt plt library "$CC"

# ---- where nothing can be written at all ----
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	mkdir -m 755 closed
	# That user may not reach the build folder.
	install -m 755 "$MODULE" closed/libxaudit.so
	install -m 755 "$XAUDIT" closed/xaudit
	run ''
	printf '[trace]\noutput = %s\nfollow = yes\n[library libcounted.so]\nkinds = plt\n' "$tmp/closed/d" >conf
	status=0
	XAUDIT_CONFIG=$tmp/conf LD_AUDIT=$tmp/closed/libxaudit.so bounded 60 setpriv --reuid=65534 --clear-groups \
		./hostile >out 2>err || status=$?
	is "$(cat out; echo "status $status")" "$(cat plain)" \
		'a folder that cannot be made: the program behaves as ever'
	is "$(grep -v "^xaudit: can't make the trace folder .*the program runs on, untraced\$" err)" '' \
		'and a line says why there is no trace'
	is "$(grep -c '' err)" 1 'just one'
	status=0
	HOME=$tmp XAUDIT_MODULE=$tmp/closed/libxaudit.so setpriv --reuid=65534 --clear-groups closed/xaudit record -o \
		"$tmp/closed/d" ./hostile >out 2>err || status=$?
	is "$status $(cat out)" '125 ' 'record says so before the program runs'
	like "$(cat err)" '^xaudit record: .*closed/d' 'and where'
else
	skip 5 'not root, or no setpriv'
fi
if [ -n "$mounts" ]; then
	run ''
	printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/small/d" >conf
	XAUDIT_CONFIG=$tmp/conf MODULE=$MODULE bounded 60 unshare -m sh -c 'mount -t tmpfs -o size=64k none small
		cat /dev/zero >small/filler 2>/dev/null
		LD_AUDIT=$MODULE ./hostile; echo "status $?"' >out 2>err
	is "$(cat out)" "$(cat plain)" 'a disk that is full from the start: the program behaves as ever'
	is "$(grep -c '^xaudit: ' err)/$(grep -c '' err)" 1/1 'and one line says so'
else
	skip 2 'no mounts of its own here'
fi

# The list in the manual is that of the sandbox.
sed -n '/^Sandboxes/,/^[.]El/s/^[.]It Fn //p' "$top_srcdir/doc/xaudit-record.1" | sort >documented
is "$(./hostile needs | diff - documented)" '' 'the manual lists the system calls that the sandbox above allows'

all patchable patchable patchable_library
if [ -n "$CLANG" ]; then
	all xray xray xray_library
else
	skip 46 'no clang here'
fi
done_testing
