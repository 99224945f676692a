#!/bin/sh
# SPDX-License-Identifier: MIT
#
# XRay's interface, used by programs that know only LLVM's headers, with libxaudit-api instead of LLVM's runtime.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

flags="-Wall -Wextra -Werror -I$top_srcdir/runtime/api -fxray-instrument -fxray-instruction-threshold=1000000 \
-fxray-ignore-loops"
static=$top_builddir/libxaudit-api.a
shared="-L$top_builddir/.libs -lxaudit-api -Wl,-rpath,$top_builddir/.libs"

[ -n "$CLANG" ] || skip_all 'no clang'
echo '#include <xray/xray_log_interface.h>' >header.cc
"$CLANGXX" -fsyntax-only header.cc 2>/dev/null || skip_all 'clang has no headers of XRay'

for option in -fno-xray-link-deps -fnoxray-link-deps; do
	"$CLANGXX" -fsyntax-only "$option" header.cc 2>/dev/null && break
done
flags="$flags $option"

xray_library libpart.so xray_part.c
xray_library libsends.so xray_sends.c
xray_library libtwo.so xray_part.c -Wl,--build-id=0x7861756469742d636f70792d30303030
"$CLANG" -O2 -fxray-instrument -c -o part.o "$beside/xray_part.c" || bail 'part.o does not compile'
# The library comes in two forms, which are of the same sources: check has the shared one, and some of the other.
forms="shared $(more echo static)"
for name in handlers patch many log none; do
	for with in $forms; do
		eval "program \"\$CLANGXX\" ${with}_$name xray_$name.cc \$flags \$$with"
	done
done
[ -x static_handlers ] || program "$CLANGXX" static_handlers xray_handlers.cc $flags "$static"
program "$CLANGXX" own_patch xray_patch.cc $flags -DOWN part.o $shared

for with in $forms; do
	is "$(bounded 60 ./${with}_none)" '15 good, 0 bad' "$with: without the module each call has its answer"
	is "$(bounded 60 ./${with}_log)" '45 good, 0 bad' \
		"$with: without the module the log interface has modes of the program"
done

# off ARGUMENT...: xaudit record of a program, all functions off at first.
off() {
	record d -k xray --start-disabled "$@"
}
for with in $forms; do
	off ./${with}_handlers ./libpart.so ./libsends.so
	is "$out$err" '55 good, 0 bad' "$with: handlers are told what LLVM's are told, and are left when they are \
removed"
	off ./${with}_patch ./libpart.so ./libtwo.so
	is "$out$err" '100 good, 0 bad' "$with: objects and functions are patched by all calls, under eight threads, \
and not when they are closed"
	report d
	# A call whose function is unpatched meanwhile has no end.
	is "$(sums | cut -d' ' -f1,2)" '0 lost' "$with: nothing of that is lost"
	off ./${with}_log ./libpart.so
	is "$out$err" '104 good, 0 bad' \
		"$with: the log interface, with modes of the program and with LLVM's names for the recorder"
	report d
	is "$(calls part_leaf) $(calls part_logged), $(sums)" '14 5, 0 lost 0 unfinished' \
		"$with: the recorder has the calls between init and finalize"
done
# XRAY_OPTIONS, and the program's own. 2 4 2: initialised, finalised, flushed.
for with in $forms; do
	if [ $with = shared ]; then link="$shared -rdynamic"; else link=$static; fi
	program "$CLANGXX" options xray_options.cc $flags $link
	program "$CLANGXX" own_options xray_options.cc $flags -DOWN $link
	got=
	for options in '' xray_mode=xray-fdr 'verbosity=1:patch_premain=true,xray_fdr_log=true' \
		'xray_mode=xray-basic xray_mode=none'; do
		XRAY_OPTIONS=$options off ./options
		got="$got$out; "
	done
	is "$got" 'none 0 0 0; xray-fdr 2 4 2; xray-fdr 2 4 2; xray-basic 0 0 0; ' "$with: XRAY_OPTIONS selects a mode"
	off ./own_options
	got=$out
	XRAY_OPTIONS=xray_mode=xray-fdr off ./own_options
	is "$got; $out" 'xray-basic 0 0 0; xray-fdr 2 4 2' "$with: so do the program's own options, before those"
done
off ./own_patch ./libpart.so ./libtwo.so
is "$out$err" '103 good, 0 bad' 'a program with functions of its own is object 0'

off ./shared_many again ./libpart.so
is "$out$err" '4 good, 0 bad' 'a library is opened and closed 1000 times, patched each time: the same number, and '\
'bounded memory'
off ./shared_many once ./libtwo.so
is "$out" '9 good, 0 bad' '300 libraries at once: 255 have numbers, and theirs are used again'
is "$err" 'xaudit: 255 libraries with XRay functions are loaded: the XRay interface has no numbers for more; they are '\
'traced as the rules say' \
	'300 libraries at once: it is said once'
record d -k xray -F part_leaf ./shared_many once ./libtwo.so
is "$out" '9 good, 0 bad' '300 libraries at once, all on by the rules'
report d
is "$(printf '%s\n' "$report" | jq '[.functions[] | select(.function == "part_leaf") | .calls] | add') $(sums)" \
	'301 0 lost 0 unfinished' \
	'300 libraries at once, all on by the rules: those without a number are traced, too'

# Libraries that register themselves with LLVM's runtime find this library.
xray_library libregisters.so resolve_library.c -DSHARED
program "$CC" host resolve_host.c -Wl,--no-as-needed $shared
is "$(bounded 60 ./host now 3 ./libregisters.so 2>&1)" 'sum 18: number -1, handlers 0, same 1; found 3' \
	'a library built -fxray-shared can be loaded without the module'
record d -k xray ./host now 3 ./libregisters.so
is "$out$err" 'sum 18: number 1, handlers 0, same 1; found 3' \
	'a library built -fxray-shared has the number that the module gave it'

off ./shared_many mixed ./libpart.so ./libtwo.so
is "$out$err" '11 good, 0 bad' 'libraries come and go while three threads patch and set handlers'

for with in $forms; do
	eval "parts=\$$with"
	library "$CLANGXX" plugin_$with.so xray_plugin.cc -Wall -Wextra -Werror $parts
	off ./${with}_many plugin ./libpart.so ./libtwo.so ./plugin_$with.so
	is "$out$err" '6 good, 0 bad' "$with: handlers in a plugin go with it, a hundred times; one of loads patches \
what is loaded"
done

# A library that takes long to load: the module opens a pipe that another auditor has put in the place of its file, and
# waits.
library "$CC" auditor.so xray_auditor.c
cp libpart.so libslow.so
printf '[trace]\noutput = %s/d\nenabled = no\n[library *]\nkinds = xray\n' "$tmp" >off.conf
rm -rf d
is "$(bounded 60 env LD_AUDIT="$tmp/auditor.so:$MODULE" XAUDIT_CONFIG=off.conf ./shared_many waits ./libslow.so \
	./libtwo.so 2>&1)" '8 good, 0 bad' \
	'while a library is being loaded for a second, patching answers ONGOING'

# Rules that don't name the library.
record d -l nothing.so -k xray ./shared_patch ./libpart.so ./libtwo.so
is "$out$err" '100 good, 0 bad' 'a library that the rules do not name can be patched'
record d -l nothing.so -k xray ./own_patch ./libpart.so ./libtwo.so
is "$out$err" '103 good, 0 bad' 'a program that the rules do not name can be, too'
record d -l nothing.so -k plt ./static_handlers ./libpart.so ./libsends.so
is "$out$err" '55 good, 0 bad' 'rules of another kind'
done_testing
