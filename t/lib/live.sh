# SPDX-License-Identifier: MIT
#
# For tests of values in running programs; sourced after t/lib/traced.sh: t/values/live.c, whose library has functions
# that return what is said there.
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

# build KIND COMPILER [FLAG]...: its folder has library and program.
build() {
	kind=$1 compiler=$2
	shift 2
	mkdir "$kind"
	library "$compiler" "$kind/liblive.so" live_part.c "$@"
	program "$CC" "$kind/live" live.c "-L$kind" -llive
}
# rules KIND [WHERE [TRACE [CONTEXTS]]]: the configuration, into the file conf. WHERE has the functions: "library
# liblive.so" if nothing is said.
rules() {
	{
		printf '[trace]\noutput = %s\n%s\n' "$tmp/d" "${3-}"
		printf '[%s]\nkinds = %s\nfunctions = v_*\n' "${2:-library liblive.so}" "$1"
		if [ -n "${4-}" ]; then
			printf '%s\n' "$4"
		else
			cat <<-'END'
				[context v_*@liblive.so]
				context = args retval
				[context v_where]
				context = tid, cpu, comm, calls, int:counter:live_counter, string:name:+0(live_name)
				context = string:data:live_data
				[context v_out]
				context = out:int:doubled:+0(arg2) out:string:text:arg3
			END
		fi
		printf '[prototypes]\n[[fails(-1)]] int v_fails(int with);\n'
	} >conf
}
# live KIND WORD...: runs the program by these rules, into d. Sets $status and $out.
live() {
	live_kind=$1
	shift
	rm -rf d
	status=0
	bounded "${seconds:-60}" env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" "$live_kind/live" "$@" \
		>"$tmp/.out" 2>&1 || status=$?
	out=$(cat "$tmp/.out")
}
# values_of DIR: the events of v_*() with their values; addresses, threads and processors as words. A thread's number is
# known from the event itself.
values_of() {
	bounded 60 "$XAUDIT" dump "$1" 2>"$tmp/.err" | awk '$5 ~ /^v_/ {
		what = $3
		sub(" tid=" $2 " ", " tid=ITS ")
		sub(/ cpu=[0-9]+ /, " cpu=ANY ")
		sub(/^.* 0x[0-9a-f]+ +v_/, "v_")
		sub(/  \/.*/, "")
		gsub(/0x[57][0-9a-f]+/, "PTR")
		print what " " $0
	}'
}
