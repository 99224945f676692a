#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The farm: programs that Debian installs, each untraced and then in eight ways. It must print the same and end the same
# in all of them; check must find nothing in it; and what was lost is shown. Prints a table.
#
#	make farm		all that is installed; some minutes per large program
#	make farm FARM='nginx perl'	only these
#
# all		xaudit record -k plt -l '*'
# default	xaudit record
# ring		LD_AUDIT alone, mode ring
# later		LD_AUDIT, everything off; xaudit ctl --tree switches all on and off again while it runs
# entry		xaudit record -k entry -l '*': each function of each library that can be displaced
# displaced	LD_AUDIT alone, mode ring, kind entry in all libraries
# live		LD_AUDIT, nothing prepared; xaudit ctl --tree displaces each function and puts it back while it runs
# check		xaudit check, but for what known.supp says of faults that are there
#
# Bad is also: no trace; an event that was lost, but for the size limit; a server of which fewer processes than it has
# (least) recorded; a switch that failed while its process lived.
#
# A program is a shell function program_NAME in programs.sh or servers.sh, whose first line says what must be installed
# (needs WORD...). It runs what is to be traced by `traced COMMAND...`, or starts it in the background by `wrap
# COMMAND... &`, in the folder at hand, and prints on standard output what must be the same each time.
set -u
: "${top_srcdir:?run it by make farm}" "${XAUDIT:?}" "${MODULE:?}"
farm=$top_srcdir/t/farm
ways=${FARM_WAYS-all default ring later entry displaced live check}
LC_ALL=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0 PYTHONHASHSEED=0 GIT_CONFIG_NOSYSTEM=1 \
	GIT_CONFIG_GLOBAL=/dev/null
export LC_ALL TZ PYTHONDONTWRITEBYTECODE PERL_HASH_SEED PYTHONHASHSEED GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
daemon=''
unset LD_AUDIT LD_PRELOAD LD_BIND_NOW GLIBC_TUNABLES XAUDIT_CONFIG XAUDIT_RULES

# Servers change to users of their own, who must reach the module, and their files.
work=$(mktemp -d "${FARM_WORK:-/var/tmp}/xaudit-farm.XXXXXX") || exit 1
chmod 755 "$work"
if [ -z "${FARM_KEEP-}" ]; then
	trap 'rm -rf "$work"' EXIT
fi
trap 'exit 1' HUP INT TERM
cp "$MODULE" "$work/libxaudit.so" && MODULE=$work/libxaudit.so XAUDIT_MODULE=$work/libxaudit.so || exit 1
# Root's indexes are all users'.
XAUDIT_INDEX=$work/index XAUDIT_COMMAND=$XAUDIT
export XAUDIT_MODULE XAUDIT_INDEX XAUDIT_COMMAND

. "$farm/programs.sh"
. "$farm/servers.sh"

# What the program at hand needs and this system has not.
needs() {
	for need; do
		command -v "$need" >/dev/null 2>&1 || [ -e "$need" ] || {
			echo "lacks $need" >&2
			return 1
		}
	done
}

# unfit WAY: the program at hand can't run in this way, whatever the tracer; its line says why.
unfit() {
	[ "$way" = "$1" ] && echo unfit >&2
}

# config KIND LINES
config() {
	printf '[trace]\noutput = %s\nmode = ring\nring = 4M\ncontrol = any\nfollow = yes\n%s[library *]\n'\
'kinds = %s\n' "$trace" "$2" "$1"
}

# alive PID: does it run, and isn't only waited for?
alive() {
	case $(ps -o stat= -p "$1") in '' | Z*) return 1 ;; esac
}

# started PID: waits until it, or what descends from it, is the program under the module; at first it is a shell.
started() {
	for _ in $(seq 200); do
		! timeout 10 "$XAUDIT" ctl --tree "$1" status >/dev/null 2>&1 || return 0
		alive "$1" || return 0
		sleep 0.05
	done
}

# switch PID RULE: everything on and off again under a program, as long as it runs.
switch() {
	started "$1"
	for _ in 1 2 3 4 5; do
		sleep 0.1
		alive "$1" || return 0
		switch_once "$1" enable "$2"
		sleep 0.5
		alive "$1" || return 0
		switch_once "$1" disable "$2"
		sleep 1
	done >>"$here/$way.ctl" 2>&1
}

# switch_once PID COMMAND RULE: members of the tree may end meanwhile, which ctl reports.
switch_once() {
	said=$(timeout 60 "$XAUDIT" ctl --tree "$@" 2>&1)
	switched=$?
	echo "$said"
	# What can't be switched may be ending.
	[ $switched -ne 0 ] && sleep 0.5 && alive "$1" || return 0
	others=$(echo "$said" | grep '^xaudit ctl:' |
		grep -v 'ended meanwhile$\|has ended already\|there is no process')
	[ $switched -eq 1 ] && [ -z "$others" ] && echo "$said" | grep -q '^xaudit ctl:' ||
		echo "ctl failed: $switched $others"
}

# keep_switching PID: in the ways that do so. Not a child: ctl --tree would take it for one of the program's.
keep_switching() {
	case $way in
	later) (switch "$1" '*' </dev/null >/dev/null 2>&1 &) ;;
	live) (switch "$1" 'entry:*' </dev/null >/dev/null 2>&1 &) ;;
	esac
}

# wrap COMMAND...: runs it in the way at hand. In the background, $! is what a signal is to be sent to.
wrap() {
	case $way in
	plain) exec "$@" ;;
	all) exec "$XAUDIT" record -o "$trace" --size-limit=500M -k plt -l '*' -- "$@" ;;
	default) exec "$XAUDIT" record -o "$trace" --size-limit=500M -- "$@" ;;
	check) exec "$XAUDIT" check --format=json --suppressions="$farm/known.supp" -o "$here/findings" -- "$@" ;;
	entry) exec "$XAUDIT" record -o "$trace" --size-limit=500M -k entry -l '*' -- "$@" ;;
	ring) config plt '' >"$here/conf" ;;
	displaced) config entry '' >"$here/conf" ;;
	later)
		config plt 'enabled = no
prepare = all
' >"$here/conf"
		;;
	live)
		config entry 'enabled = no
prepare = none
' >"$here/conf"
		;;
	esac
	# A daemon is another process.
	# shellcheck disable=SC2016
	[ -n "$daemon" ] || keep_switching "$(sh -c 'echo $PPID')"
	# What bare LD_AUDIT needs where a library wants static TLS.
	eval "$("$XAUDIT" env -c "$here/conf" -- "$1")" || exit 125
	exec "$@"
}

traced() {
	(wrap "$@")
}

# trace_of USER: what LD_AUDIT alone makes of a program that is this user's from its start.
trace_of() {
	case $way in
	ring | later | displaced | live) mkdir -m 700 "$trace" && chown "$1" "$trace" ;;
	esac
}

# least COUNT: so many processes of the program at hand must have recorded something, where all are traced from the
# start; one where all can be switched on at once.
least() {
	case $way in
	all | ring | entry | displaced) echo "$1" ;;
	later) echo 1 ;;
	*) echo 0 ;;
	esac >"$here/least"
}

# one: the program in the way at hand; its output, then its status, as the last line of $here/$way.out.
one() {
	rm -rf "$here/run" "$trace" "$here/least"
	mkdir "$here/run" && chmod 777 "$here/run"
	begin=$(date +%s%N)
	(
		cd "$here/run" || exit 125
		"program_$name"
	) >"$here/$way.out" 2>"$here/$way.err" </dev/null
	echo "status $?" >>"$here/$way.out"
	took=$((($(date +%s%N) - begin) / 1000000))
}

# What the trace holds, and lacks: "1234" events, "1234 -56" with 56 lost.
events() {
	[ -d "$trace" ] || {
		echo 'no trace'
		return
	}
	timeout 600 "$XAUDIT" info --format=json "$trace" 2>/dev/null |
		jq -r '(.events + .counted | tostring) + (if .lost > 0 then " lost \(.lost)" else "" end)'
}

# wrong: what the trace lacks, or the switches, that nobody wanted, in lines.
wrong() {
	least=$(cat "$here/least" 2>/dev/null || echo 0)
	grep -hs '^ctl failed' "$here/$way.ctl"
	if [ ! -d "$trace" ]; then
		# A program that ends before it is switched on has none.
		case $way.$least in later.0 | live.0) ;; *) echo 'no trace' ;; esac
		return
	fi
	timeout 600 "$XAUDIT" info --format=json "$trace" >"$here/info" 2>"$here/info.err" ||
		head -n 1 "$here/info.err"
	jq -r --argjson least "$least" '
		(.lost_by[] | select(.cause | contains("size limit") | not) | "\(.events) events lost, \(.cause)"),
		([.processes[] | select(.events > 0) | .pid] | unique | length |
			select(. < $least) | "\(.) processes recorded, of \($least)")' "$here/info"
}

findings() {
	jq -r '.findings | map(select(.severity == "error")) | length' "$here/findings" 2>/dev/null
}

echo "program | untraced | $(echo "$ways" | sed 's/ / | /g')"
for name in ${FARM:-$(sed -n 's/^program_\([a-z0-9_]*\)() .*/\1/p' "$farm/programs.sh" "$farm/servers.sh")}; do
	here=$work/$name trace=$work/$name/trace way=plain
	mkdir "$here"
	chmod 755 "$here"
	one
	if [ -n "$(sed -n 's/^lacks //p' "$here/plain.err")" ]; then
		printf '%-12s not here:%s\n' "$name" "$(sed -n 's/^lacks//p' "$here/plain.err")"
		continue
	fi
	plain=$took
	if [ "$(tail -n 1 "$here/plain.out")" != 'status 0' ]; then
		echo "== $name: it fails untraced: $(tail -n 1 "$here/plain.err")" >>"$work/bad"
		continue
	fi
	cp "$here/plain.out" "$here/expected"
	row=$(printf '%-12s %5d ms' "$name" "$plain")
	for way in $ways; do
		one
		if [ "$(tail -n 1 "$here/$way.err")" = unfit ]; then
			row="$row | -"
			continue
		fi
		cell=$(awk -v took="$took" -v plain="$plain" 'BEGIN { printf "%.1fx", took / (plain + 1) }')
		case $way in
		check) cell="$cell $(findings)" ;;
		*) cell="$cell $(events)" ;;
		esac
		if ! cmp -s "$here/expected" "$here/$way.out"; then
			cell="DIFFERS $cell"
			echo "== $name, $way: the output differs:"
			diff "$here/expected" "$here/$way.out" | head -n 10
			tail -n 5 "$here/$way.err"
		elif [ "$way" = check ] && [ "$(findings)" != 0 ]; then
			cell="FINDINGS $cell"
			echo "== $name, check:"
			jq -r '.findings[].text' "$here/findings" | head -n 5
		elif [ "$way" != check ] && said=$(wrong; :) && [ -n "$said" ]; then
			cell="WRONG $cell"
			echo "== $name, $way: $said"
		fi >>"$work/bad"
		row="$row | $cell"
	done
	echo "$row"
	[ -n "${FARM_KEEP-}" ] || rm -rf "$here"
done
cat "$work/bad" 2>/dev/null
bad=$(grep -c '^== ' "$work/bad" 2>/dev/null)
echo "farm: ${bad:-0} bad"
[ "${bad:-0}" -eq 0 ]
