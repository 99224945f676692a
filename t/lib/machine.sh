#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Is the machine as it was before tests ran? What others change meanwhile is not the tests': so of what comes and goes
# by itself only that is looked at which bears the name of ours.
#
#	sh t/lib/machine.sh look		prints what there is, a line each: KIND, tab, NAME, tab, VALUE
#	sh t/lib/machine.sh left BEFORE		prints what is another than in the file BEFORE, which holds such lines:
#						a line each, in words. Waits up to ten seconds for what is just ending
#
# Kinds: mount (an entry of mountinfo: where, and all options; new ones only in folders of tests, /proc, /sys and /dev),
# limit (of the shell that asked), process (whose environment has the XAUDIT_TEST_RUN of the caller, but for the
# caller's own), shm, cache and tmp (a name in /dev/shm, in folders of indexes and in that of temporary files), setting
# (a file below /proc/sys, or of huge pages, that may be written). For the test of this: MACHINE_SETTINGS, MACHINE_SHM,
# MACHINE_CACHES name other folders, and MACHINE_WAIT is how many seconds it waits.
temporary=${TMPDIR:-/tmp}
settings=${MACHINE_SETTINGS:-/proc/sys/kernel /proc/sys/vm /proc/sys/fs /proc/sys/user \
/sys/kernel/mm/transparent_hugepage}
shm=${MACHINE_SHM:-/dev/shm}
caches=${MACHINE_CACHES:-/var/cache/xaudit ${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/xaudit}

# names KIND FOLDER PATTERN: what is there.
names() {
	find "$2" -mindepth 1 -maxdepth 1 -name "$3" -user "$(id -un)" -printf "$1\\t%p\\tis there\\n" 2>/dev/null
}

# The number of a process, and what runs in it. Our own ancestors have the mark, too.
processes() {
	[ -n "${XAUDIT_TEST_RUN-}" ] || return 0
	ours=" $$ "
	of=$$
	while [ "${of:-0}" -gt 1 ]; do
		of=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$of/status" 2>/dev/null)
		ours="$ours$of "
	done
	grep -lzsxF "XAUDIT_TEST_RUN=$XAUDIT_TEST_RUN" /proc/[0-9]*/environ 2>/dev/null |
		while IFS=/ read -r _ _ pid _; do
			parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null)
			case $ours in *" $pid "*) continue ;; esac
			# This pipeline's own.
			case " $$ " in *" $parent "*) continue ;; esac
			command=$({ tr '\0\n\t' '   ' <"/proc/$pid/cmdline"; } 2>/dev/null | sed 's/ *$//')
			[ -z "$command" ] || printf 'process\t%s\t%s\n' "$pid" "$command"
		done
}

look() {
	awk '{ options = $6; for (i = 7; $i != "-"; i++) options = options "," $i
		printf "mount\t%s\t%s %s %s %s\n", $5, $(i + 1), $(i + 2), options, $(i + 3) }' /proc/self/mountinfo
	sed '1d; s/^\(.\{26\}\)/limit\t\1\t/; s/  *\t/\t/; s/  */ /g; s/ $//' "/proc/$PPID/limits"
	processes
	# Names that our tests give; and what the library or the command would make.
	names shm "$shm" '*xaudit*'
	for cache in $caches; do
		names cache "$cache" '*'
	done
	names tmp "$temporary" 'xaudit-*'
	# What nobody may write is no setting. Nor is what the kernel sets by itself, nor what acts when it is written.
	find $settings -type f -perm -u=rw ! -path '*/binfmt_misc/*' ! -path '*/sched_domain/*' ! -name '*_next_id' \
		! -name ns_last_pid ! -name 'usermodehelper*' ! -name compact_memory ! -name drop_caches \
		-exec grep -sH '' {} + 2>/dev/null |
		awk '{ at = index($0, ":"); name = substr($0, 1, at - 1); value = substr($0, at + 1)
			gsub(/\t/, " ", value)
			if (name != last)
				printf "%ssetting\t%s\t%s", end, name, value
			else
				printf ", %s", value
			last = name; end = "\n" }
			END { printf "%s", end }'
}

# compare BEFORE AFTER: the lines of `left`.
compare() {
	awk -F '\t' -v places="$temporary /proc /sys /dev $PWD" '
		function is_ours(name,	n, i, place) {
			n = split(places, place, " ")
			for (i = 1; i <= n; i++)
				if (name == place[i] || index(name, place[i] "/") == 1)
					return 1
			return 0
		}
		# Of several mounts at one place the last one counts.
		FNR == NR { before[$1 "\t" $2] = $3; next }
		{ after[$1 "\t" $2] = $3 }
		END {
			for (key in before) {
				split(key, part, "\t")
				if (!(key in after)) {
					if (part[1] == "mount" || part[1] == "limit" || part[1] == "setting")
						print part[1] " " part[2] " is gone"
				} else if (after[key] != before[key] && part[1] != "process")
					print part[1] " " part[2] " was " before[key] ", is " after[key]
			}
			for (key in after) {
				split(key, part, "\t")
				if (!(key in before) && part[1] != "setting" &&
					(part[1] != "mount" || is_ours(part[2])))
					print part[1] " " part[2] " was left: " after[key]
			}
		}' "$1" "$2" | LC_ALL=C sort
}

case ${1-} in
look) look ;;
left)
	after=$(mktemp "$temporary/machine.XXXXXX") || exit 1
	trap 'rm -f "$after"' EXIT
	looks=0
	while :; do
		look >"$after"
		left=$(compare "$2" "$after")
		[ -n "$left" ] && [ $looks -lt "${MACHINE_WAIT:-10}" ] || break
		looks=$((looks + 1))
		sleep 1
	done
	[ -z "$left" ] || printf '%s\n' "$left"
	;;
*)
	echo 'usage: machine.sh look | left BEFORE' >&2
	exit 2
	;;
esac
