# SPDX-License-Identifier: MIT
#
# For tests that inject something at every instruction of every path through the module: signals whose handlers make
# events, fill a chunk, fork, vfork or jump away, another thread's fork, a pause of more than 2^31 ticks, another mode
# (t/lib/inject.c); and, in tests of their own, the call and the fork of a task that shares the thread's memory. Then
# registers, counts, open calls, children and locks have to be as if nothing had happened. One kind at each
# instruction, in turn; with XAUDIT_SOAK=1 all kinds at each. Sourced after t/lib/traced.sh; $kind is the kind of sites
# that is traced, and the name of the program.
need objdump

# A bound for what goes wrong. A family's file of 2 GiB fits: it doubles, and 1367 children take more than 1 GiB.
ulimit -f 4200000
objdump -d --no-show-raw-insn "$MODULE" | awk '$2 == "rdtsc" { sub(":", "", $1); print $1 }' >rdtsc
covered=0
# If each instruction costs milliseconds, only at some instructions.
few="-n $(rounds 170 500 20000)"

# injected KINDS INJECT-OPTIONS JUDGE-OPTIONS WHAT RECORD-OPTION...: sets $result to the judge's last line, or to an
# earlier error, and $judged to the judge's whole output.
injected() {
	kinds=$1 options=$2 judge=$3 what=$4
	shift 4
	[ "$XAUDIT_SOAK" != 1 ] || options="$options -a"
	rm -rf d list
	# shellcheck disable=SC2086
	status=0 said=$(bounded 1500 "$top_builddir/t/lib/inject" -m "$MODULE" -k "$kinds" $options shm list \
		"$XAUDIT" record -o "$tmp/d" ${selects--k "$kind" -l libinject.so} -b 64k --ring=1G "$@" \
		"./$kind" "$what" shm 2>err) || status=$?
	if [ "$status" -ne 0 ]; then
		result="status $status: $(echo "$said" | head -n 3)" judged=''
		return
	fi
	n=${said#*covered }
	covered=$((covered + ${n%% of*}))
	info d '[.processes[] | select(.lost > 0)] | group_by(.pid)[] | "\(.[0].pid) \([.[].lost] | add)"' | tr -d '"' \
		>losses
	case $judge in
	*taken*) judge="$judge=$(info d '[.processes[].taken_back] | add')" ;;
	esac
	# shellcheck disable=SC2086
	judged=$(bounded 1500 "$XAUDIT" dump d 2>err | without_values |
		awk -f "$top_srcdir/t/lib/inject.awk" $judge list losses - 2>&1)
	result=$(echo "$judged" | grep '^[0-9]* rounds, ')
	result="wrong: ${result#* rounds, }"
}

# Where $values is a file for inject_values.awk, values are judged, and taken out.
values=''
without_values() {
	if [ -n "$values" ]; then
		# Backtraces go to the ends of the events' values, before the object.
		LC_ALL=C awk '/^ +> / { stack = stack substr($0, index($0, ">") - 1); next }
			function put(at) {
				at = match(event, /  [^ ]+(  entry only)?$/)
				if (!at)
					at = length(event) + 1
				print stack == "" ? event : substr(event, 1, at - 1) stack substr(event, at)
				stack = ""
			}
			NR > 1 { put() }
			{ event = $0 }
			END { put() }' |
			LC_ALL=C awk -f "$top_srcdir/t/lib/inject_values.awk" "$values" -
	else
		cat
	fi
}

# all NAME INJECT-OPTIONS JUDGE-OPTIONS WHAT RECORD-OPTION...: every kind.
all() {
	name="$kind, $1"
	shift
	injected event,chunk,fork,vfork,jump,other,mode,-,- "$@"
	verdict
	options=$1
	shift
	injected -,-,-,-,-,-,-,pause,long "$options -c rdtsc" "$@"
	verdict
}

# every KIND NAME INJECT-OPTIONS JUDGE-OPTIONS WHAT RECORD-OPTION...: this kind at every instruction, also in `make
# check`.
every() {
	name="$kind, $2: $1 at every instruction" kinds=$1 options="$3 -a"
	shift 3
	injected "$kinds" "$options" "$@"
	verdict
}

# Errors, except those of known kinds, which are checks that are expected to fail.
verdict() {
	said=$(echo "$said" | grep '^covered')
	diag "$name: $said"
	echo "$judged" | grep -v '^[a-z]*: .* rounds, \|^[0-9]* rounds' | head -n 20 | sed 's/^/# /'
	if [ -n "$known" ] && [ "$result" != 'wrong: 0 wrong' ] &&
		unknown=$(echo "$judged" | awk -v known=" $known " '/^[0-9]+ rounds, / { all = $3; next }
			/^[a-z]+: [0-9]+ rounds, / { sub(":", "", $1); if (index(known, " " $1 " ")) all -= $4 }
			END { if (all != "" ) print all }') && [ "$unknown" = 0 ]; then
		tap_run=$((tap_run + 1))
		echo "not ok $tap_run - $(tap_text "$name: all is right") # $known_mark known to fail: $known"
		return
	fi
	[ "$result" = 'wrong: 0 wrong' ] || diag "lost, by process: $(head -n 5 losses | tr '\n' ' ')$(cat .err err)"
	is "$result" 'wrong: 0 wrong' "$name: program and trace are right whatever comes at an instruction"
}
# An event that is reserved and not stored is given up when a handler fills a flight recorder's chunk; one whose clock
# was read more than 2^31 ticks ago has a wrong time.
known='' known_mark=$(echo todo | tr a-z A-Z)

# counting NAME INJECT-OPTIONS WHAT: mode count has no events, but all calls. In a fork in the middle of a call, the
# child may have counted the call.
counting() {
	name="$kind, mode count, $1" options=$2 what=$3
	for kinds in event,chunk,vfork,jump,other,pause fork; do
		injected "$kinds" "$options" '' "$what" -m count
		diag "$name: $(echo "$said" | grep '^covered')"
		report d
		wanted=$(awk '{ most += $9; least += $1 == "jump" ? $11 : $9; handled += $13 }
			$1 == "fork" { most++ }
			$5 > 0 { children++ }
			$7 != 0 || $19 != 0 || $21 != 0 { bad++ }
			END { print least + 5, most + 5, handled + 1, 5 * children, 0 + bad }' list 2>&1)
		# shellcheck disable=SC2086
		set -- $wanted
		got=$(printf '%s\n' "$report" | jq '[.functions[] | select(.function == "counted") | .calls] | add')
		# The child of vfork may lose its call: its parent's thread has no place for it yet.
		lost=$(printf '%s\n' "$report" | jq .lost)
		is "$(($(calls handled) + lost)) handled, $(calls in_child) in children, $5 wrong, $(sums |
			sed 's/^[0-9]* //')" \
			"$3 handled, ${4%%[!0-9]*} in children, 0 wrong, lost 0 unfinished" \
			"$name: $kinds: what is called is counted"
		ok "$name: $kinds: $got calls of $1 to $2 in the middle of which it came are counted" \
			test "$got" -ge "$1" -a "$got" -le "$2"
	done
}

# build COMPILER KIND [FLAG]...: makes library and program.
build() {
	compiler=$1 kind=$2
	shift 2
	library "$compiler" libinject.so inject_part.c "$@"
	case $kind in xray) set -- -DXRAY ;; cyg) set -- -DCYG ;; mcount) set -- -DMCOUNT ;; *) set -- ;; esac
	program "$CC" "$kind" inject.c "$@" "-I$top_srcdir/runtime/api" "$top_builddir/libxaudit-api.a" -L. -linject \
		-Wl,-z,lazy -Wl,--allow-shlib-undefined
}
printf 'int inject_more;\n' >more.c
$CC -shared -fPIC -o libinject_more.so more.c || bail 'libinject_more.so does not compile'
