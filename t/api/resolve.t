#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Libraries that import XRay's runtime can be loaded by every program under the module, and are traced: with event
# sleds, and as clang links them with -fxray-shared. A process with definitions of its own keeps them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
[ -n "$CLANG" ] || skip_all 'no clang here'

part() { # OUT FLAG...
	part_out=$1
	shift
	xray_library "$part_out" resolve_library.c -Wall -Wextra -Werror "$@"
}
# under COMMAND..., bare COMMAND...: with the module and without. Variables may stand before the command.
under() {
	status=0
	out=$(bounded 60 env LD_AUDIT="$MODULE" "$@" 2>&1) || status=$?
}
bare() {
	status=0
	out=$(bounded 60 env "$@" 2>&1) || status=$?
}

program "$CC" host resolve_host.c -Wall -Wextra -Werror
part libshared.so -DSHARED
part libevents.so -DEVENTS
library "$CC" libstubs.so resolve_library.c -DSTUBS -Wall -Wextra -Werror

ours='number 1, handlers 0, same 1; found 0'
theirs='number 77, handlers 4, same 1; found 3'

# Without us.
for how in lazy now; do
	bare ./host $how 1 ./libshared.so
	is "$status $(echo "$out" | cut -c 1-33)" '1 ./libshared.so: undefined symbol:' \
		"(a plain program can't open a -fxray-shared library, $how)"
	bare ./host $how 1 ./libevents.so
	like "$status $out" 'libevents.so: undefined symbol: __xray_' "(nor use one with event sleds, $how)"
done

# Every way to open it, and each kind of symbol table and relocation.
part libsysv.so -DSHARED -Wl,--hash-style=sysv
part libgnu.so -DSHARED -Wl,--hash-style=gnu
part libnow.so -DSHARED -Wl,-z,now
part libnoplt.so -DSHARED -fno-plt
echo 'FIRST { global: resolve_work; local: *; };' >versions
part libversions.so -DSHARED -Wl,--version-script=versions
for how in lazy now global namespace; do
	for name in shared sysv gnu now noplt versions; do
		under ./host $how 2 ./lib$name.so
		# That a namespace is gone is noticed when the next library is opened.
		[ $how = namespace ] && out=$(echo "$out" | sed 's/number 2/number 1/')
		is "$status $out" "0 sum 12: $ours" "lib$name.so is opened, registered and closed, $how"
	done
	under ./host $how 2 ./libevents.so
	is "$status $out" '0 sum 12: events; found 0' "a library with events works, $how"
done
part libpointer.so -DEVENTS -DPOINTER -Wl,-z,now
under ./host lazy 2 ./libpointer.so
is "$status $out" '0 sum 12: events; found 0' 'so does one that takes the address of the call'

for name in shared sysv events; do
	under ./host now 1000 ./lib$name.so
	like "$status $out" '^0 sum 6000: (number 1, handlers 0, same 1|events); found 0$' \
		"lib$name.so is opened and closed 1000 times, and no mapping is left over"
done
under ./host lazy 100 ./libevents.so ./libsysv.so ./libshared.so
is "$status $out" '0 sum 600: number 3, handlers 0, same 1; found 0' 'three of them open at once have their own numbers'

# The program itself.
mkdir -p empty
echo 'int empty;' >empty.c
$CC -shared -fPIC -Wl,-soname,libstubs.so -o empty/libstubs.so empty.c || bail 'no empty library'
cat >start.c <<'END'
#include <stdio.h>
long resolve_work(long, char *, size_t);
int main(void)
{
	char text[200];
	long sum = resolve_work(3, text, sizeof(text));
	printf("sum %ld: %s\n", sum, text);
	return 0;
}
END
for pie in '-fPIE -pie' '-fPIC -no-pie' '-fno-pic -no-pie'; do
	for bind in lazy now; do
		for what in SHARED 'EVENTS -DPOINTER'; do
			# Copy relocations turn the words into definitions; a -fxray-shared program never has such code.
			[ "$pie $what" = '-fno-pic -no-pie SHARED' ] && continue
			# shellcheck disable=SC2086
			$CLANG -O2 ${pie% *} -fxray-instrument -c -o library.o "$beside/resolve_library.c" -D$what &&
				$CC ${pie#* } -o start start.c library.o -L. -lstubs -Wl,-z,$bind || bail 'no program'
			bare LD_LIBRARY_PATH=empty ./start
			like "$status $out" '^127 .*undefined symbol' \
				"(a program that imports it does not start: $pie, $bind, $what)"
			under LD_LIBRARY_PATH=empty ./start
			like "$status $out" '^0 sum 6: (number (0|-1), handlers 0, same 1|events)$' \
				"a program that imports it starts: $pie, $bind, $what"
			under LD_LIBRARY_PATH=. ./start
			like "$status $out" '^0 sum 6: (number 77, handlers 4, same 1|events)$' \
				"and takes a library's that has it"
		done
	done
done

# Definitions of others.
part libneeds.so -DSHARED -L. -lstubs
for with in bare under; do
	$with LD_PRELOAD=./libstubs.so ./host now 2 ./libshared.so
	is "$status $out" "0 sum 12: $theirs" "a preloaded library's definitions are taken, $with"
	$with ./host lazy 3 ./libneeds.so
	is "$status $out" "0 sum 18: $theirs" "those of a library that it needs, which is opened after it, $with"
	$with ./host global 3 ./libstubs.so ./libshared.so
	is "$status $out" "0 sum 18: $theirs" "those of a library opened with RTLD_GLOBAL, $with"
done
under ./host lazy 3 ./libneeds.so ./libshared.so
is "$status $(echo "$out" | tail -n 1 | cut -c 1-15)" '1 ./libshared.so:' \
	'where definitions are open but out of reach, a library is as without us'

part libapi.so -DSHARED -L"$top_builddir/.libs" -Wl,--no-as-needed -lxaudit-api -Wl,-rpath,"$top_builddir/.libs"
under ./host now 3 ./libapi.so ./libshared.so
like "$status $out" '^0 sum 18: number [12], handlers 0, same 1; found' \
	'beside a library that is linked with libxaudit-api, another has ours'
under ./host lazy 3 ./libapi.so
like "$status $out" '^0 sum 18: number 1, handlers 0, same 1; found' 'as has itself'

# A program that is linked with such a library needs definitions at once.
for name in shared events; do
	echo 'int resolve_work(int); int main(void) { return !resolve_work; }' >linked.c
	ok "a program with the archive libxaudit-api.a can be linked with lib$name.so" \
		$CC -o linked linked.c -L. -l$name "$top_builddir/libxaudit-api.a" -Wl,-rpath,.
	bare ./linked
	is "$status $out" '0 ' "and runs, $name"
	under ./linked
	is "$status $out" '0 ' "also under the module, $name"
done

# Programs with LLVM's runtime.
if $CLANG -O2 -fxray-instrument -fxray-instruction-threshold=1 -o llvm "$beside/resolve_host.c" -ldl 2>llvm.err &&
	$CLANG -O2 -fxray-instrument -fxray-instruction-threshold=1 -rdynamic -o rdynamic \
		"$beside/resolve_host.c" -ldl; then
	for host in llvm rdynamic; do
		for options in patch_premain=false 'patch_premain=true xray_mode=xray-basic xray_logfile_base=./'; do
			under XRAY_OPTIONS="$options" ./$host now 3 ./libevents.so ./libshared.so
			like "$status $(echo "$out" | tail -n 1)" '^0 sum 18: number [12], handlers 0, same 1; found' \
				"a program with LLVM's runtime goes on beside such libraries: $host, $options"
		done
	done
else
	skip 4 "no XRay runtime of clang here"
fi

# Other programs, and traces.
record d -l libshared.so ./host now 5 ./libshared.so
report d
is "$status $out $err" "0 sum 30: $ours " 'recorded, it runs the same'
is "$(calls resolve_work) $(calls resolve_leaf) $(sums)" '5 15 0 lost 0 unfinished' 'and each of its calls is there'
record d -l libevents.so ./host lazy 5 ./libevents.so
report d
is "$status $out $err $(calls resolve_leaf)" '0 sum 30: events; found 0  15' 'as are those of a library with events'
if command -v python3 >/dev/null 2>&1; then
	record d -l libshared.so python3 -c '
import ctypes
library = ctypes.CDLL("./libshared.so")
text = ctypes.create_string_buffer(200)
print(library.resolve_work(ctypes.c_long(4), text, ctypes.c_size_t(200)), text.value.decode())'
	report d
	is "$status $out" "0 10 ${ours%;*}" 'python3 opens it by ctypes'
	is "$(calls resolve_work) $(calls resolve_leaf) $(sums)" '1 4 0 lost 0 unfinished' 'and it is traced there'
else
	skip 2 'no python3 here'
fi
if perl -MDynaLoader -e 1 2>/dev/null; then
	record d -l libshared.so perl -MDynaLoader -e '
		my $library = DynaLoader::dl_load_file("./libshared.so", 0) or die DynaLoader::dl_error();
		print DynaLoader::dl_find_symbol($library, "resolve_work") ? "found" : "lost";'
	is "$status $out $err" '0 found ' 'perl opens it by DynaLoader'
else
	skip 1 'no DynaLoader here'
fi
status=0
out=$(bounded 60 "$XAUDIT" check ./host lazy 3 ./libevents.so ./libshared.so 2>check.err) || status=$?
like "$status $out" '^0 sum 18: number -?1, handlers 0, same 1; found 0$' 'xaudit check runs such a program'
done_testing
