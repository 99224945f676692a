# SPDX-License-Identifier: MIT
#
# bash completion of xaudit. Completes commands, options, kinds of sites, files and trace folders; behind the options of
# `record`, the traced command with its own arguments.

# Basenames of the libraries that the dynamic linker knows, without version, as patterns: libz.so.1 -> libz.so\*
_xaudit_libraries()
{
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
		sed -n 's/^[[:space:]]*\([^ ]*\.so\)[^ ]* .*$/\1\\\\\\*/p' | sort -u
}

# Words of a comma-separated list: completes the last one.
_xaudit_list()
{
	local before=
	[[ $cur == *,* ]] && before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
	compopt -o nospace
}

_xaudit()
{
	local cur prev words cword split
	if declare -F _init_completion >/dev/null; then
		_init_completion -s -n : || return
	else
		cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") \
			cword=$COMP_CWORD
	fi
	COMPREPLY=()

	local commands='record trace report replay dump info graph stacks slow outliers html view alloc loads locks'
	commands+=' export ctl check env list index pack unpack perf'
	if ((cword == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
		return
	fi

	local columns='calls counted total cpu self self-cpu share min avg deviation p50 p90 p99 p999 max self-avg'
	columns+=' self-p50'
	local command=${words[1]} options= takes=
	case $command in
	record | trace | check | env | locks)
		if [[ $command == env ]]; then
			options='--config= --format= --help'
			takes='-c|-f|--config|--format'
		elif [[ $command == record ]]; then
			options='--output= --library= --filter= --notrace= --kinds= --buffer= --mode= '
			options+='--ring= --size-limit= --overflow= --follow= --depth= --time= --below= --throttle='
			options+=' --clock= --start-disabled --prepare= --snapshot= --merge --pack --perf'
			options+=' --sched --context= --probe= --function= --then= --args-of-all --args= --results='
			options+=' --request= --event-backtrace= --no-values --config= --help'
			takes='-o|-l|-F|-N|-k|-b|-m|-D|-t|-C|-A|-R|-c|--output|--library|--filter|--notrace|--kinds'
			takes+='|--buffer|--mode|--ring|--size-limit|--overflow|--follow|--depth|--time|--below'
			takes+='|--throttle|--clock|--prepare|--snapshot|--context|--probe|--function|--then|--args'
			takes+='|--results|--request'
			takes+='|--event-backtrace|--config'
		elif [[ $command == trace ]]; then
			options='--trace= --output= --nested --summary-only --summary --timestamps'
			options+=' --relative-timestamps --call-times --string-limit= --decode-fds --stack-traces'
			options+=' --successful-only'
			options+=' --failed-only --quiet --attach= --behind= --command= --keep= --filter= --library='
			options+=' --notrace= --kinds= --buffer= --size-limit= --overflow= --follow= --depth= --time='
			options+=' --below= --clock= --context= --probe= --function= --then= --args= --results='
			options+=' --no-values --config= --help'
			takes='-e|-o|-s|-p|-F|-l|--trace|--output|--string-limit|--attach|--behind|--command|--keep'
			takes+='|--filter|--library|--notrace|--kinds|--buffer|--size-limit|--overflow|--follow'
			takes+='|--depth|--time|--below|--clock|--context|--probe|--function|--then|--args|--results'
			takes+='|--config'
		elif [[ $command == locks ]]; then
			options='--count= --format= --keep= --backtrace= --filter= --notrace= --follow='
			options+=' --size-limit= --config= --pid= --color= --no-demangle --full-names --no-pager --help'
			takes='-n|-F|-N|-c|--count|--format|--keep|--filter|--notrace|--follow|--size-limit|--config'
			takes+='|--backtrace|--pid|--color'
		else
			options='--scan --cycles --suppressions= --default-suppressions= --gen-suppressions'
			options+=' --error-exitcode= --format= --output= --no-demangle --full-names --help'
			takes='-o|--output|--error-exitcode|--format|--suppressions|--default-suppressions'
		fi
		# The first word that is neither option nor an option's value is the traced command.
		local i
		for ((i = 2; i < cword; i++)); do
			case ${words[i]} in
			--) ((i++)); break ;;
			--*=*) ;;
			-*) [[ ${words[i]} =~ ^($takes)$ ]] && { ((i++)); [[ ${words[i]-} == = ]] && ((i++)); } ;;
			*) break ;;
			esac
		done
		if ((i < cword)) || [[ ${words[i - 1]} == -- ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			else
				compopt -o default
			fi
			return
		fi
		# Letters of trace that are strace's take no value.
		[[ $command == trace && $prev == -[ctr] ]] && prev=
		case $prev in
		-e | -s | -p | --trace | --string-limit | --attach | --behind | --command) return ;;
		--keep) compopt -o dirnames; return ;;
		-o | --output) [[ $command == @(check|trace) ]] && compopt -o default || compopt -o dirnames; return ;;
		-f | --format)
			[[ $command == env ]] && options='shell systemd plain' || options='text json'
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
			return
			;;
		--error-exitcode | -n | --count | --pid | --backtrace) return ;;
		--color) mapfile -t COMPREPLY < <(compgen -W 'always never auto' -- "$cur"); return ;;
		--suppressions) compopt -o default; return ;;
		--default-suppressions) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$cur"); return ;;
		-c | --config) compopt -o default; return ;;
		-k | --kinds) _xaudit_list 'xray patchable plt calls guard entry cyg fentry mcount'; return ;;
		-b | --buffer) mapfile -t COMPREPLY < <(compgen -W '64k 256k 1M 4M 16M 64M' -- "$cur"); return ;;
		-l | --library) mapfile -t COMPREPLY < <(compgen -W "$(_xaudit_libraries)" -- "$cur"); return ;;
		-m | --mode) mapfile -t COMPREPLY < <(compgen -W 'stream ring count' -- "$cur"); return ;;
		--ring) mapfile -t COMPREPLY < <(compgen -W '1M 8M 64M 256M' -- "$cur"); return ;;
		--size-limit) mapfile -t COMPREPLY < <(compgen -W '100M 1G 10G' -- "$cur"); return ;;
		--follow) mapfile -t COMPREPLY < <(compgen -W 'yes no always' -- "$cur"); return ;;
		--overflow) mapfile -t COMPREPLY < <(compgen -W 'wait drop' -- "$cur"); return ;;
		-t | --time) mapfile -t COMPREPLY < <(compgen -W '1us 10us 100us 1ms 10ms' -- "$cur"); return ;;
		--clock) mapfile -t COMPREPLY < <(compgen -W 'auto tsc monotonic coarse' -- "$cur"); return ;;
		--throttle) mapfile -t COMPREPLY < <(compgen -W '5% 10% 20%' -- "$cur"); return ;;
		--prepare) mapfile -t COMPREPLY < <(compgen -W 'selected all none' -- "$cur"); return ;;
		--snapshot) _xaudit_list 'exit crash signal:USR1 signal:USR2'; return ;;
		-F | --filter | -N | --notrace | -C | --below | -D | --depth | --event-backtrace) return ;;
		--probe | --function) return ;;
		--then) mapfile -t COMPREPLY < <(compgen -W 'mark snapshot start stop' -- "$cur"); return ;;
		esac
		if [[ $cur != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			compopt -o filenames -o default
			return
		fi
		;;
	report)
		options='--by= --apart --sort= --columns= --callers= --callees= --hist= --by-event= --by-value='
		options+=' --by-request'
		options+=' --event-end= --event-format= --diff --tid= --from= --to= --jobs= --format= --pid= --color='
		options+=' --srcline --no-demangle --full-names --no-pager --help'
		;;
	replay)
		options='--tid= --from= --to= --filter= --min= --tail= --depth= --srcline --pid= --color='
		options+=' --no-demangle --full-names --no-pager --no-values --help'
		;;
	dump)
		options='--tid= --from= --to= --filter= --min= --tail= --format= --event-format= --srcline --pid='
		options+=' --color= --no-demangle --full-names --no-pager --no-values --help'
		;;
	info) options='--verbose --format= --pid= --color= --no-demangle --full-names --no-pager --help' ;;
	export)
		options='--format= --output= --min= --event-format= --no-values --values --schema= --tid= --from='
		options+=' --to= --pid= --color= --no-demangle --full-names --no-pager --help'
		;;
	graph)
		options='--min= --depth= --by-value= --format= --srcline --tid= --from= --to= --pid= --color='
		options+=' --no-demangle --full-names --no-pager --help'
		;;
	stacks)
		options='--count= --sort= --backtraces --format= --tid= --from= --to= --pid= --color= --no-demangle'
		options+=' --full-names --srcline --no-pager --help'
		;;
	slow)
		options='--count= --min= --depth= --format= --tid= --from= --to= --pid= --color= --no-demangle'
		options+=' --full-names --srcline --no-pager --no-values --help'
		;;
	outliers)
		options='--count= --factor= --format= --tid= --from= --to= --pid= --color= --no-demangle'
		options+=' --full-names --no-pager --srcline --no-values --help'
		;;
	html) options='--output= --around= --tid= --from= --to= --pid= --no-values --no-demangle --help' ;;
	view) options='--tid= --from= --to= --pid= --no-values --no-demangle --help' ;;
	alloc)
		options='--count= --sort= --temporary= --timeline --format= --output= --srcline --for= --backtrace='
		options+=' --sample= --mmap --keep= --config= --pid= --color= --no-demangle --full-names --no-pager'
		options+=' --help'
		;;
	loads) options='--format= --tid= --from= --to= --pid= --color= --no-demangle --full-names --no-pager --help' ;;
	ctl)
		local control='status enable disable add-context del-context contexts function probe unprobe probes'
		control+=' start stop when watch mode snapshot top'
		# What comes before the command: processes, or options that name them.
		local at=2 pids
		while ((at < cword)) && [[ ${words[at]} =~ ^(--tree|--name|=|[0-9]+$) ||
			${words[at - 1]} =~ ^(--tree|--name|=)$ || -d ${words[at]} ]]; do
			((at++))
		done
		if ((at == cword)) && [[ $cur == -* ]]; then
			compopt -o nospace
			mapfile -t COMPREPLY < <(compgen -W '--tree= --name= --help' -- "$cur")
			return
		fi
		if ((at == cword)) && [[ $prev != --name ]]; then
			# Processes that the module is in, as far as we may see; status takes a folder, too.
			pids=$(grep -l libxaudit.so /proc/[0-9]*/maps 2>/dev/null | sed 's,/proc/\([0-9]*\)/.*,\1,')
			if ((at > 2)) && [[ $prev != --tree ]]; then
				pids="$pids $control"
			elif ((at == 2)); then
				compopt -o dirnames
			fi
			mapfile -t COMPREPLY < <(compgen -W "$pids" -- "$cur")
			return
		fi
		case ${words[at]-} in
		mode) mapfile -t COMPREPLY < <(compgen -W 'stream ring count' -- "$cur"); return ;;
		status | probes) options='--format=' ;;
		when) options='--output= --at-most= --watch' ;;
		probe) options='--context= --if= --every= --then=' ;;
		function) options='--context= --if= --every=' ;;
		snapshot)
			case $prev in -o | --output) compopt -o dirnames; return ;; esac
			options='--output= --help'
			;;
		top)
			case $prev in -n | -d | --count | --delay) return ;; esac
			options='--batch --count= --delay= --no-demangle --full-names --help'
			;;
		*) return ;;
		esac
		;;
	list) options='--verbose --usdt --format= --color= --no-demangle --full-names --no-pager --help' ;;
	pack) options='--output= --jobs= --level= --no-values --help' ;;
	unpack) options='--output= --test --help' ;;
	perf) options='--help' ;;
	index) options='--verbose --dry-run --jobs= --quiet --kept --cache= --fd= --values= --values-fd= --help' ;;
	*) return ;;
	esac

	case $prev in
	--cache) compopt -o dirnames; return ;;
	-o | --output) [[ $command == unpack ]] && compopt -o dirnames || compopt -o default; return ;;
	--sort)
		case $command in
		stacks) options='self cpu waiting calls' ;;
		alloc) options='bytes calls live peak temporary' ;;
		*) options=$columns ;;
		esac
		;;
	--columns) _xaudit_list "$columns"; return ;;
	--by) options='function library thread process stack host program command' ;;
	--format)
		case $command in
		dump | info | slow) options='text json' ;;
		graph) options='text dot mermaid json' ;;
		stacks) options='text folded json svg' ;;
		alloc) options='text folded json pprof' ;;
		report | loads) options='table json csv' ;;
		export)
			options='chrome perfetto speedscope folded callgrind pprof uftrace xray ctf sqlite csv ndjson'
			options+=' rowbinary'
			;;
		*) options='table json' ;;
		esac
		;;
	--schema) options='clickhouse clickhouse-18' ;;
	--color) options='always never auto' ;;
	--tail | -F | --filter) return ;;
	--tid | -D | --depth | --pid | --event-format | --fd | -n | --count | --min | --factor | --from | --to | \
		--around | \
		-j | --jobs | --level | --callers | --callees | --hist | --by-event | --by-value | --event-end)
		return
		;;
	*)
		if [[ $cur != -* ]]; then
			# A trace is a folder, or a packed file; only pack and perf want a folder.
			[[ $command == @(pack|perf) ]] && compopt -o dirnames || compopt -o default
			return
		fi
		compopt -o nospace
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *= ]] && compopt +o nospace
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
} &&
	complete -F _xaudit xaudit
