#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A handler of a running program asks for the values of its calls, for each kind of functions: it is told what the trace
# has, and what the rules leave out of that.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

include="-I$top_srcdir -I$top_srcdir/runtime/api"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

for std in c89 c++98; do
	case $std in c++*) compiler=$CXX language=c++ ;; *) compiler=$CC language=c ;; esac
	echo '#include <xaudit.h>
	int use(const struct xaudit_handler_event *event, struct xaudit_values *values);
	int use(const struct xaudit_handler_event *event, struct xaudit_values *values)
	{
		values->size = sizeof(*values);
		return xaudit_event_values(event, values) > 0 && values->value[0].state == XAUDIT_VALUE_WHOLE;
	}' >use
	ok "xaudit.h in $std" $compiler -std=$std -pedantic -Wall -Wextra -Wno-long-long -Werror -fsyntax-only \
		$include -x $language use
done

cat >expected <<'END'
entry ev_mixed 5: number=-7 wide=1099511627776 text="in the program" real=2.5 single=-0.25
exit ev_mixed 1: ret=1099511627876.25
entry ev_many 8: a=1 b=2 c=3 d=4 e=5 f=6 on_stack=77 text="" (null)
exit ev_many 1: ret=98
entry ev_fails 1: with=0
exit ev_fails 2: ret=0 errno=0
entry ev_fails 1: with=2
exit ev_fails 2: ret=-1 errno=2 failed
entry ev_writes 2: out="before" size=3
exit ev_writes 1: out="www"
END
cat >xaudit.conf <<'END'
[prototypes]
[[fails(-1)]] int ev_fails(int with);
END

# build KIND COMPILER [FLAG]...: its folder has library and program.
build() {
	kind=$1 compiler=$2
	shift 2
	mkdir "$kind"
	library "$compiler" "$kind/libpart.so" event_values_part.c "-I$top_srcdir" "$@"
	program "$CC" "$kind/live" event_values_live.c $include -Wall -Wextra -Werror "$top_builddir/libxaudit-api.a" \
		"-L$kind" -lpart
}
build plt "$CC"
cp -r plt entry
cp -r plt calls
build patchable "$CC" -fpatchable-function-entry=5
kinds='plt entry calls patchable'
if [ -n "$CLANG" ]; then
	build xray "$CLANG" -fxray-instrument -fxray-instruction-threshold=1
	kinds="$kinds xray"
else
	skip 7 'no clang here'
fi

# told KIND [ARGUMENT]: what the handler is told, under record with values of all functions of the library. Sets $last.
told() {
	kind=$1
	shift
	record d -k "$kind" -F 'ev_*' --context 'ev_*=args,retval' --context 'ev_writes=out:string:out:arg1' \
		${only:+--context "$only"} "$kind/live" "$@"
	last=$(printf '%s\n' "$out" | tail -n 1)
	printf '%s\n' "$out" | sed '$d' >got
}
# recorded: the calls of these functions in the trace, with what their entries and exits have of values.
recorded() {
	bounded 60 "$XAUDIT" dump d | sed -n 's/^.* \(entry\|exit\) .* \(ev_.*\)  \/.*/\1 \2/p'
}
cat >trace <<'END'
entry ev_mixed(-7, 1099511627776, "in the program", 2.5, -0.25)
exit ev_mixed = 1099511627876.25
entry ev_many(1, 2, 3, 4, 5, 6, 77, NULL)
exit ev_many = 98
entry ev_fails(0)
exit ev_fails = 0
entry ev_fails(2)
exit ev_fails = -1 ENOENT (No such file or directory)
entry ev_writes("before", 3)
exit ev_writes out="www"
END
for kind in $kinds; do
	told $kind
	ok "$kind: a handler is told each value" diff expected got
	is "$last" 'www 1099511627973.25' "$kind: the program has its results"
	told $kind quick
	ok "$kind: so is a quick one" diff expected got
	is "$last" 'www 1099511627973.25' "$kind: and the program"
	recorded >got
	ok "$kind: and the trace has them" diff trace got
	# Entries that are left out keep nothing for their exits; here none needs that.
	only='ev_m*=if=arg1>1,if=arg1<1'
	told $kind quick
	ok "$kind: values of calls that the rules leave out are told" diff expected got
	recorded >got
	only=
	ok "$kind: and not recorded" sh -c 'grep -v ev_m trace | diff - got'
done
is "$(bounded 60 plt/live)" '-38' 'without the module the call answers ENOSYS'
record d -k plt -F 'ev_*' --no-values plt/live
is "$(echo "$out" | grep -c ' 0:$')" 10 'without rules for values there are none'
done_testing
