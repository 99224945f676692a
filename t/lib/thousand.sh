# SPDX-License-Identifier: MIT
#
# For tests that set and take away a thousand probes at once, again and again, in a program that works meanwhile and
# checks what it does; sourced after t/lib/ctl.sh. Nothing is wrong or lost, and code and memory are afterwards what
# they were. A probe that stays, and one of each round, are at functions that are called once in a round of work: so how
# often is known. What the program is told, and says, is that of t/ctl/probe_load.py.
need objdump cmp dd
times=$(rounds 3 100 1000)
sets=$(rounds 1 5 10)
threads=4 all_places=0

# rules LINE...: nothing is traced but what is asked for.
rules() {
	{
		printf '[trace]\n'
		for line; do echo "$line"; done
		printf '[library *]\nkinds = none\n[program]\nkinds = none\n'
	} >conf
	rm -rf d
}
# places COUNT FILE [OPTION]...: so many places of each set in the file, evenly spread over its instructions; padding is
# none. Options are objdump's.
places() {
	count=$1 file=$2
	shift 2
	objdump -d --no-show-raw-insn "$@" "$file" | awk '/^ *[0-9a-f]+:/ &&
		$2 !~ /^(nop|nopw|nopl|cs|data16|xchg|int3|\(bad\))$/ { sub(":", "", $1); print $1 }' >instructions
	awk -v count="$count" -v sets="$sets" -v all="$(wc -l <instructions)" -v file="${file##*/}" -v n="$all_places" '
		BEGIN { step = int(all / count / sets) }
		NR % step == 0 && done < count * sets {
			set = done++ % sets + 1
			print "p" n + int((done - 1) / sets) "=0x" $1 "@" file >>"set." set
		}' instructions
	all_places=$((all_places + count))
}
# of_library PROGRAM NAME: the file of a library that it is linked with.
of_library() {
	ldd "$1" | sed -n "s/.*=> \(.*$2[^ ]*\) .*/\1/p" | head -n 1
}
# look: sets $rounds, those that have ended, and $wrong.
look() {
	tell now
	rounds=$(tail -n 1 out | sed 's/called \([0-9]*\) rounds .*/\1/')
	wrong=$(tail -n 1 out | sed 's/called [1-9][0-9]* rounds //')
}
has_worked() {
	look
	[ "$rounds" -ge "$1" ]
}
# piece FILE PAGE OUT: $pages pages of it.
piece() {
	dd "if=$1" bs=4096 "skip=$2" "count=$pages" "of=$3" 2>dd.err
}
# unclean: code of the processes that is not that of its file.
unclean() {
	for process in $pids; do
		awk '$2 == "r-xp" && $6 ~ "^/" { sub("-", " ", $1); print $1, $3, $6 }' "/proc/$process/maps" |
			while read -r from to offset file; do
				pages=$(((0x$to - 0x$from) / 4096))
				piece "/proc/$process/mem" $((0x$from / 4096)) code
				piece "$file" $((0x$offset / 4096)) own
				# Behind the end of the file a page has zeros.
				truncate -s "$((pages * 4096))" own
				cmp code own || echo "$file"
			done
	done
}
# weight: mappings, and kB of private memory, of all processes.
weight() {
	for process in $pids; do
		echo "$(wc -l <"/proc/$process/maps") $(
			awk '/^Private_Dirty/ { print $2 }' "/proc/$process/smaps_rollup")"
	done | awk '{ maps += $1; kb += $2 } END { print maps, kb }'
}

# soak NAME ALWAYS EACH MORE: in $pids, which do what lines say, the sets of places by turns. ALWAYS and EACH are called
# once in a round of work. When each set was there once, private memory may grow by so many kB: the program's own.
soak() {
	name=$1 always=$2 each=$3
	ctl $pids probe "always=$always"
	is "$status $err" '0 ' "$name: a probe that stays"
	tell go
	bad='' n=0 least=1001
	: >expected
	: >pauses
	: >weights
	while [ $n -lt "$times" ]; do
		n=$((n + 1))
		# In some rounds nothing is under way when its own probe comes and goes, and its number is known.
		case $n in *1) quiet=1 ;; *) quiet='' ;; esac
		[ -z "$quiet" ] || tell rest
		look
		before=$rounds
		# shellcheck disable=SC2046
		ctl $pids probe "each$n=$each" $(cat "set.$(((n - 1) % sets + 1))")
		on=$(printf '%s\n' "$out" | sed -n 's/^\(.*: \)*\([0-9]*\) of 1001 probes on, .*/\2/p' |
			sort -n | head -n 1)
		[ "${on:-0}" -ge "$least" ] || least=${on:-0}
		[ -n "$on" ] || bad="$bad; probe $n: $err"
		bad="$bad$(printf '%s\n' "$err" | grep "'each$n'")"
		printf '%s\n' "$out" | sed -n 's/.*paused \(.*\) ms$/\1/p' >>pauses
		[ $n -gt 1 ] || cp ctl.err refused
		[ -z "$quiet" ] || tell go
		look
		begun=$rounds
		wait_until 60 has_worked $((begun + 10 * threads)) || bad="$bad; $n: no work is done"
		[ -z "$quiet" ] || tell rest
		look
		ending=$rounds
		ctl $pids unprobe "each$n" 'p*'
		[ "$status" -eq 0 ] || bad="$bad; unprobe $n: $err"
		printf '%s\n' "$out" | sed -n 's/.*paused \(.*\) ms$/\1/p' >>pauses
		look
		ended=$rounds
		if [ -n "$quiet" ]; then
			echo "each$n $((ending - before)) $((ended - before))"
			tell go
		else
			# One of each thread may be on its way.
			echo "each$n $((ending - begun - threads)) $((ended - before + threads))"
		fi >>expected
		weight >>weights
	done
	tell rest
	ctl $pids unprobe '*'
	is "$status$bad" 0 "$name: a thousand probes, set and taken away $times times"
	ok "$name: of 1001 places $least could be had each time" test "$least" -ge 900
	look
	is "$wrong" '0 wrong' "$name: all that it did is right"
	is "$(unclean)" '' "$name: then all code is the file's"
	is "$(for process in $pids; do bounded 60 "$XAUDIT" ctl "$process" status --format=json |
		jq '[.objects[].private_kb] | add // 0'; done | sort -u)" 0 "$name: whose pages were given back"
	echo "always $rounds $rounds" >>expected
	diag "$name: $rounds rounds; pauses, ms: $(sort -n pauses | awk '{ p[NR] = $1 }
		END { print "median", p[int((NR + 1) / 2)], "longest", p[NR] }')"
	ok "$name: mappings, and private kB, were $(sed -n "${sets}p" weights), and are $(tail -n 1 weights)" \
		awk -v n="$sets" -v more="$4" 'NR == n { maps = $1 + 60; kb = $2 + more }
			END { exit $1 > maps || $2 > kb }' weights
	diag "refused: $(sed 's/.*: //; s/; 0x.*//' refused | sort | uniq -c | sort -rn | head -n 5)"
}
# counted NAME: what the trace has of the probes whose number is known, and what was lost.
counted() {
	report d
	printf '%s\n' "$report" | jq -r '.probes[] | "\(.probe) \(.count)"' |
		awk '{ count[$1] += $2 } END { for (p in count) print p, count[p] }' >counts
	is "$(awk 'FNR == NR { count[$1] = $2; next }
		count[$1] + 0 < $2 || count[$1] > $3 { print $1, "has", count[$1] + 0, "of", $2, "to", $3 }' \
		counts expected)" '' "$1: the probes have as many events as they must"
	is "$(info d .lost) $report_status" '0 0' "$1: no event is lost"
	diag "$1: $(awk '{ sum += $2 } END { print sum }' counts) events, $(du -sm d | cut -f 1) MB"
}
# is_for_us FILE: a program of this machine, no script.
is_for_us() {
	[ -x "$1" ] && [ "$(objdump -f "$1" 2>/dev/null | grep -c x86-64)" -gt 0 ]
}
