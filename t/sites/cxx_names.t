#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions of C++ are chosen by the names that they have in the source: by options, in a configuration without the
# command, in a process that runs, and by the commands that read.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

export XAUDIT_INDEX=$tmp/cache XAUDIT_CONFIG=/dev/null
unset XAUDIT_RULES
# How often each is called: Cart() and ~Cart() 2, add(int) 6, add(const char *) 2, total() 8, operator() 10, open 11,
# inner::open 13, Box<long>::put 17, open_all 19.
patchable_library libshop.so cxx_names.cc -fno-exceptions -fno-rtti
program "$CC" host cxx_host.c

# chosen FOLDER: "name calls" of what was recorded
chosen() {
	report "$1"
	printf '%s\n' "$report" | jq -r '.functions[] | "\(.demangled // .function) \(.calls)"' | LC_ALL=C sort
}
# by SENTENCE EXPECTED OPTION...
by() {
	sentence=$1 expected=$2
	shift 2
	record d "$@" ./host "$tmp/libshop.so"
	is "$status/$err/$(chosen d)" "0//$expected" "$sentence"
}
by 'a method is all of its overloads' 'shop::Cart::add(char const*) 2
shop::Cart::add(int) 6' -F shop::Cart::add
by 'const and operators belong to a class, and so do constructors' 'shop::Cart::Cart() 2
shop::Cart::add(char const*) 2
shop::Cart::add(int) 6
shop::Cart::operator()() 10
shop::Cart::total() const 8
shop::Cart::~Cart() 2' -F 'shop::Cart::*'
by 'a constructor has the name of its class' 'shop::Cart::Cart() 2
shop::Cart::~Cart() 2' -F shop::Cart::Cart -F 'shop::Cart::~Cart'
by 'a name is that of one namespace' 'shop::open(int) 11' -F shop::open
by 'a pattern may mean several' 'shop::inner::open(int) 13
shop::open(int) 11' -F '*::open'
by 'a template is all of its instances' 'shop::Box<long>::put(long) 17' -F shop::Box::put
by 'what is in no namespace has a :: in front' 'open_all(int) 19' -F ::open_all
by 'of a library, and without what is left out' 'shop::Box<long>::put(long) 17
shop::inner::open(int) 13
shop::open(int) 11' -F 'shop::*@libshop*' -N 'shop::Cart::*'
by 'operators are written as they are' 'shop::Cart::operator()() 10' -F 'shop::Cart::operator()'
by 'raw names are what they were' 'shop::open(int) 11' -F _ZN4shop4openEi
record d -F 'shop::open(int)' ./host ./libshop.so
is "$status/$err" "125/xaudit: command line: no function has the name 'shop::open(int)': leave out parameters and "\
'template arguments, it stands for all overloads and instances' 'parameters can not be told: that is said'

is "$(bounded 60 "$XAUDIT" list libshop.so '*::open' | sed -n 's/^\(shop[^:]*::.*)\): .*/\1/p' | LC_ALL=C sort)" \
	'shop::inner::open(int)
shop::open(int)' 'list takes them, too'

# Without sites in the code: by the library's index.
library "$CC" libshop.so cxx_names.cc -fno-exceptions -fno-rtti
by 'functions that nobody prepared have names, too' 'shop::Cart::add(char const*) 2
shop::Cart::add(int) 6
shop::inner::open(int) 13' "-Fshop::Cart::add@$tmp/libshop.so" \
	"-Fshop::inner::open@$tmp/libshop.so"
patchable_library libshop.so cxx_names.cc -fno-exceptions -fno-rtti

# Operators whose names have a blank. That of arrays calls the other one.
cat >new.cc <<'END'
int main(int argc, char **)
{
	for (int i = 0; i < 7 + argc; i++) {
		int *volatile one = new int(i);
		delete one;
		int *volatile many = new int[4];
		delete[] many;
	}
}
END
"$CXX" -O0 -o new new.cc || bail 'no program with operator new'
# named NAME LINES OPTION...: as by().
named() {
	name=$1 lines=$2
	shift 2
	record d "$@" ./new
	is "$status/$err/$(chosen d | grep operator)" "0//$lines" "$name"
}
named 'a pattern may have the blank of operator new' 'operator new(unsigned long) 16
operator new[](unsigned long) 8' -F 'operator new*' -N 'operator delete*' -l 'libstdc++*'
named 'without a star it is one operator' 'operator new[](unsigned long) 8' -F 'operator new[]' -l 'libstdc++*'
named 'as elsewhere, :: may stand in front' 'operator new(unsigned long) 16' -F '::operator new' -l 'libstdc++*'
named '-C takes them, too' 'operator new(unsigned long) 16' -C 'operator new' -F 'operator new*' -F 'operator delete*' \
	-l 'libstdc++*'
for option in -F -N -C; do
	record d "$option" 'open close' ./new
	is "$status/$err" "125/xaudit record: pattern 'open close' holds a blank, which only names of operators have, "\
"such as 'operator new'; give each pattern an option of its own" "$option: two patterns in one are refused"
done
record d -F 'open(int)' ./new
is "$status/$err" "125/xaudit: command line: no function has the name 'open(int)': leave out parameters and "\
'template arguments, it stands for all overloads and instances' 'parameters are refused without a ::, too'

# Without the command.
cat >conf <<END
[trace]
output = $tmp/alone
[library libshop.so]
functions = shop::inner::* operator new ::open_all
exclude = shop::open
END
bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./host ./libshop.so 2>err
is "$?/$(cat err)/$(chosen alone)" '0//open_all(int) 19
shop::inner::open(int) 13' 'a configuration has such names, without the command, too'

# In a process that runs.
printf '[trace]\noutput = %s/live\nenabled = no\ncontrol = any\n' "$tmp" >conf
begin ./host ./libshop.so wait
for rule in shop::open patchable:shop::Cart::add; do
	ctl "$pid" enable "$rule"
	is "$status/$err" '0/' "ctl takes $rule"
done
tell call
ctl "$pid" enable 'shop::open(int)'
is "$status/$err" "2/xaudit ctl: 'shop::open(int)': leave out parameters and template arguments: a name stands for "\
'all overloads and instances' '... and says what it does not take'
finish
is "$(chosen live)" 'shop::Cart::add(char const*) 2
shop::Cart::add(int) 6
shop::open(int) 11' 'these are recorded'

# By those that read: the same patterns.
record d -F 'shop::*' ./host ./libshop.so
callers() {
	bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/d" | jq '[.functions[].calls] | add'
}
is "$(callers --hist=shop::Cart::add) $(callers --callers=shop::Box::put) $(callers --callees='shop::*::open')" \
	'8 17 13' 'commands that read take the same names'
done_testing
