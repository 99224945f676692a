# SPDX-License-Identifier: MIT
#
# Part of run.sh: for how long `xaudit ctl` stops a program with 100 threads, to switch 10 000 functions on and off.
# They sleep in system calls; xray has two sites per function.

printf '[trace]\noutput = %s\nenabled = no\ncontrol = any\n[library libcontrolled.so]\nkinds = xray patchable\n' \
	"$tmp/pause" >"$tmp/pause.conf"
: >"$tmp/pauses"
# pause KIND gcc|clang [FLAG]...: adds "KIND on|off MS" lines.
pause() {
	kind=$1 compiler=$2
	shift 2
	mkdir "$tmp/$kind"
	build "$compiler" "$kind/libcontrolled.so" -fPIC -shared -Wl,-soname,libcontrolled.so \
		"$@" ../fixtures/controlled_library.c
	build gcc "$kind/controlled" -pthread ../fixtures/controlled.c "$tmp/$kind/libcontrolled.so" \
		"-Wl,-rpath,$tmp/$kind"
	mkfifo "$tmp/$kind/input"
	# timeout first: what a traced program executes is not traced.
	timeout 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/pause.conf" "$tmp/$kind/controlled" \
		"$tmp/$kind/counters" 0 100 \
		<"$tmp/$kind/input" >"$tmp/$kind/output" 2>&1 &
	exec 8>"$tmp/$kind/input"
	# All threads are there when the program answers.
	echo 'call 1' >&8
	tries=0
	until grep -q called "$tmp/$kind/output"; do
		[ $((tries += 1)) -lt 100 ] || fail "$kind/controlled does not start"
		sleep 0.1
	done
	pid=$(pgrep -f "^$tmp/$kind/controlled" | head -n 1)
	round=0
	while [ $((round += 1)) -le 10 ]; do
		for way in enable disable; do
			run "$XAUDIT" ctl "$pid" "$way" '*'
			sed -n "s/^10002 functions: .* paused \([0-9.]*\) ms\$/$kind $way \1/p" \
				"$tmp/output" >>"$tmp/pauses"
		done
	done
	exec 8>&-
	wait
}
if command -v pgrep >/dev/null; then
	pause patchable gcc -fpatchable-function-entry=5
	[ -z "$CLANG" ] || pause xray clang -fxray-instrument -fxray-instruction-threshold=1
	[ "$(wc -l <"$tmp/pauses")" -ge 20 ] || fail 'not all functions could be switched'
	heading 'how long xaudit ctl stops 100 threads to switch 10 000 functions, ms (10 times each)'
	printf '  %-44s %8s %8s\n' '' best median
	for what in 'patchable enable' 'patchable disable' 'xray enable' 'xray disable'; do
		grep "^$what " "$tmp/pauses" | cut -d ' ' -f 3 | sort -n |
			awk -v label="$what" '
				{ ms[NR] = $1 }
				END { if (NR) printf "  %-44s %8.1f %8.1f\n", label, ms[1], ms[int((NR + 1) / 2)] }'
	done
else
	heading 'no pgrep here: nothing about the pause of xaudit ctl'
fi
