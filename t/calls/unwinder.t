#!/bin/sh
# SPDX-License-Identifier: MIT
#
# If code of the program would not see our frames, or moves stacks, only entries are recorded, and a line says so; in
# other programs returns are recorded, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# with_end FUNCTION: how many of its calls in the dump have an end, and how many have only an entry.
with_end() {
	dump d
	jq -rn --arg f "$1" '[inputs | select(.function == $f)] |
		"\(map(select(.event == "exit")) | length) \(map(select(.return == false)) | length)"' d.json
}

library "$CC" libpart.so unwinder_part.c
program "$CC" main unwinder.c -L. -lpart
ok 'a collector fetches dl_iterate_phdr without a PLT' \
	sh -c 'readelf -rW libpart.so | grep -q "GLOB_DAT.*dl_iterate_phdr"'
record d -k plt ./main
is "$status $out/$err" '0 1 100/' \
	'a library that walks the list of objects for other reasons than unwinding is not spoken of'
report d
is "$(with_end part_step), $(sums)" '100 0, 0 lost 0 unfinished' 'its calls have ends'

library "$CC" libpart.so unwinder_part.c -DUNWINDER
record d -k plt ./main
is "$status $out/$err" '0 1 100/' 'an unwinder of the program that fetches dl_iterate_phdr without a PLT gets ours'
is "$(with_end part_step)" '100 0' 'returns are recorded there'
$CC -O2 -g -fPIC -shared -o libmine.so "$beside/unwinder_list.c" || bail 'libmine.so does not compile'
record d -k plt env LD_PRELOAD="$tmp/libmine.so" ./main
is "$status $out" '0 1 100' 'an unwinder that fetches a dl_iterate_phdr() of somebody else runs'
like "$err" '^xaudit: .*/libpart.so: its unwinder would not see intercepted calls; only entries are recorded' \
	'a line says what that means'
is "$(with_end part_step)" '0 100' 'only entries are recorded there'

# ---- valgrind reads how our frames are unwound ----

# With an auditor, what libc frees at the end of all is none of valgrind's heap, whatever the auditor does.
check='valgrind -q --run-libc-freeres=no --error-exitcode=9'
if command -v valgrind >/dev/null && [ "$(bounded 60 $check ./main 2>&1)" = '1 100' ]; then
	library "$CC" libpart.so unwinder_part.c
	record d -k plt $check ./main
	# Valgrind itself executes its tool, which is no program of ld.so's, and that runs ours.
	is "$status $out/$(echo "$err" | grep -v 'ran untraced: memcheck')" '0 1 100/' \
		'a traced program runs under valgrind, which says nothing'
	report d
	is "$(calls part_step) $(printf '%s\n' "$report" | jq .lost)" '100 0' 'its calls are recorded'
else
	skip 2 'no valgrind here'
fi

# ---- code that moves stacks ----

# moved NAME LIBRARY WHEN ENDS ARG...: coroutines suspended in calls go on in their own callers. ENDS: of functions
# whose calls were open when the library was loaded, and of one that is called later: calls with an end, and calls with
# only an entry.
moved() {
	name=$1 part=$2 when=$3 ends=$4
	shift 4
	record d "$@" "./$part" "$when"
	is "$status $out" '0 BCBDBE abc bdef xyz 123' "$name: all coroutines come back to where they were called"
	is "$err" "xaudit: $tmp/./$part: copies stacks away and back; only entries are recorded from here on" \
		"$name: a line says so"
	got=
	for f in by_number moving_stay qsort; do
		got="$got$f $(with_end $f) "
	done
	report d
	is "$got$(sums)" "$ends 0 lost 0 unfinished" "$name: calls from before have ends, later ones none"
}
library "$CC" _greenlet_part.so moving_part.c
cp _greenlet_part.so mine.so
program "$CC" moving moving.c
program "$CC" prepared moving.c -fpatchable-function-entry=5
is "$(./moving ./mine.so late)" 'BCBDBE abc bdef xyz 123' 'untraced, the coroutines work'
for when in early late; do
	# The sort that is open while the library is loaded late has an end.
	seen="by_number 0 0 moving_stay 0 0 qsort $([ $when = late ] && echo '1 3' || echo '0 4')"
	moved "plt, $when" _greenlet_part.so $when "$seen" -k plt -l libc.so.6 ./moving
	moved "calls, $when" _greenlet_part.so $when "$seen" -k calls ./moving
	seen="by_number $([ $when = late ] && echo '1 2' || echo '0 3') moving_stay 0 3 qsort 0 0"
	moved "patchable, $when" _greenlet_part.so $when "$seen" -k patchable ./prepared
done
for name in continuation.so libguile-3.0.so.1 libpypy3.9-c.so; do
	cp _greenlet_part.so $name
	moved "$name" $name late 'by_number 0 0 moving_stay 0 0 qsort 1 3' -k plt -l libc.so.6 ./moving
done
printf '[trace]\nstack-copying = other.so mine*\n' >conf
moved 'a library that the configuration names' mine.so late 'by_number 0 0 moving_stay 0 0 qsort 1 3' -c conf -k plt \
	-l libc.so.6 ./moving
if [ -n "$CLANG" ] &&
	$CLANG -O2 -fPIC -fxray-instrument -fxray-instruction-threshold=1 -c -o moving.o "$beside/moving.c" &&
	$CC -pie -o prepared moving.o -ldl; then
	record d -k xray ./prepared ./_greenlet_part.so late
	is "$status $out $err" '0 BCBDBE abc bdef xyz 123 ' \
		'XRay functions return by themselves, and nothing is said of them'
else
	skip 1 'no clang here'
fi
if [ -f /usr/lib/python3/dist-packages/greenlet/__init__.py ] && [ -x /usr/bin/python3 ]; then
	cat >switch.py <<'END'
import greenlet, ctypes
libc = ctypes.CDLL("libc.so.6")
pair = ctypes.POINTER(ctypes.c_int)
back = ctypes.CFUNCTYPE(ctypes.c_int, pair, pair)
host = greenlet.getcurrent()
def sort(n):
    a = (ctypes.c_int * 8)(*range(8, 0, -1))
    def compare(x, y):
        host.switch()
        return x[0] - y[0]
    libc.qsort(a, 8, 4, back(compare))
    return list(a)
all = [greenlet.greenlet(sort) for n in range(4)]
got = [g.switch(i) for i, g in enumerate(all)]
while not all[-1].dead:
    got = [g.switch() for g in all if not g.dead] or got
print(got[-1])
END
	record d -k plt -l '*' /usr/bin/python3 switch.py
	is "$status $out" '0 [1, 2, 3, 4, 5, 6, 7, 8]' 'Python switches greenlets within calls of libc'
else
	skip 1 'no greenlet for Python here'
fi
done_testing
