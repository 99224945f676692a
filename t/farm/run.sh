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

# switch PID RULE: everything on and off again under a program, as long as it runs.
switch() {
	for _ in 1 2 3 4 5; do
		sleep 0.1
		kill -0 "$1" 2>/dev/null || return 0
		timeout 60 "$XAUDIT" ctl --tree "$1" enable "$2"
		sleep 0.5
		kill -0 "$1" 2>/dev/null || return 0
		timeout 60 "$XAUDIT" ctl --tree "$1" disable "$2"
		sleep 1
	done >>"$here/$way.ctl" 2>&1
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
	case $way in
	later | live)
		me=$(sh -c 'echo $PPID')
		rule='*'
		[ "$way" = later ] || rule='entry:*'
		# Not a child: ctl --tree would take it for one of the program's.
		(switch "$me" "$rule" </dev/null >/dev/null 2>&1 &)
		;;
	esac
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

# one: the program in the way at hand; its output, then its status, as the last line of $here/$way.out.
one() {
	rm -rf "$here/run" "$trace"
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
