#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is shown on a terminal: names demangled, rows cut to its width, a pager that is waited for; and none of it in a
# pipe, but for the names.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3

cd "$tmp" || exit 1
# LSan would be a second voice on the terminal, and it can't look where ptrace is not allowed.
ASAN_OPTIONS=detect_leaks=0
unset COLUMNS PAGER LESS LV XAUDIT_PAGER
TERM=xterm NO_COLOR=1
export ASAN_OPTIONS TERM NO_COLOR

write_trace d <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libshapes.so
object 2 /usr/lib/libcrate.so
function 1 0 1 0x100 _ZNK6shapes7Polygon15number_of_sidesERKNS_6OptionEPKcidm
function 1 0 2 0x200 _ZN6shapes5countIiEEvT_
function 2 0 3 0x300 _RNvMNtCsdOmxBqW8nI2_1m6shapesINtB2_6CirclejE4areaB4_
function 2 0 4 0x400 _ZN4core3fmt5write17h0123456789abcdefE
function 2 0 5 0x500 plain
thread 100 main
entry 1 1000
entry 2 1100
entry 3 1110
exit 3 1130
entry 4 1140
entry 5 1150
exit 5 1151
exit 4 1160
exit 2 1200
exit 1 2000
END
polygon='shapes::Polygon::number_of_sides(shapes::Option const&, char const*, int, double, unsigned long) const'

xa() {
	bounded 60 "$XAUDIT" "$@"
}
# on [OPTION of terminal.py]... xaudit...: what a terminal gets, without carriage returns; the status in $status.
on() {
	status=0
	bounded 90 python3 "$top_srcdir/t/lib/terminal.py" "$@" >.on || status=$?
	tr -d '\r' <.on
}
# names: of the rows of a report.
names() {
	sed -n 's/^ *[0-9]\{1,\}\( *[0-9]*\.[0-9]* .s\)\{1,\}  //p'
}

# ---- names ----

is "$(xa report d | names)" "$polygon [libshapes.so]
void shapes::count<int>(int) [libshapes.so]
<m::shapes::Circle<usize>>::area [libcrate.so]
core::fmt::write [libcrate.so]
plain [libcrate.so]" 'report shows demangled names of C++ and Rust'
is "$(xa report --no-demangle d | names)" '_ZNK6shapes7Polygon15number_of_sidesERKNS_6OptionEPKcidm [libshapes.so]
_ZN6shapes5countIiEEvT_ [libshapes.so]
_RNvMNtCsdOmxBqW8nI2_1m6shapesINtB2_6CirclejE4areaB4_ [libcrate.so]
_ZN4core3fmt5write17h0123456789abcdefE [libcrate.so]
plain [libcrate.so]' 'and with --no-demangle those of the trace'
is "$(xa report --format=json d | jq -r '.functions[] | "\(.function) \(.demangled)"')" \
	"_ZNK6shapes7Polygon15number_of_sidesERKNS_6OptionEPKcidm $polygon
_ZN6shapes5countIiEEvT_ void shapes::count<int>(int)
_RNvMNtCsdOmxBqW8nI2_1m6shapesINtB2_6CirclejE4areaB4_ <m::shapes::Circle<usize>>::area
_ZN4core3fmt5write17h0123456789abcdefE core::fmt::write
plain null" 'JSON has both, and no demangled name where it is the same'
is "$(xa report --format=json --no-demangle d | jq '[.functions[] | has("demangled")] | any')" false \
	'with --no-demangle it has the names of the trace alone'
is "$(xa replay d | sed '1d; s/^[^|]*| //')" "$polygon {
  void shapes::count<int>(int) {
    <m::shapes::Circle<usize>>::area();
    core::fmt::write() {
      plain();
    } /* core::fmt::write */
  } /* void shapes::count<int>(int) */
} /* $polygon */" 'replay writes no () behind a name that has its parameters'
is "$(xa dump d | sed -n 's/.*  entry  *-  \(.*\)  .*/\1/p')" "$polygon
void shapes::count<int>(int)
<m::shapes::Circle<usize>>::area
core::fmt::write
plain" 'dump shows demangled names'
is "$(xa dump --format=json d | jq -r 'select(.event == "entry") | .demangled' | sed -n 2p)" \
	'void shapes::count<int>(int)' 'and in JSON it has both'

cat >names.c <<'END'
int f(void) __asm__("_ZN2ns1fEv");
int f(void) { return 1; }
int r(void) __asm__("_RNvCs1234_7mycrate3foo");
int r(void) { return 2; }
END
$CC -shared -fPIC -o libnames.so names.c || bail 'no library'
is "$(xa list libnames.so | grep -Eo '(ns|mycrate)::.*')" 'ns::f()
mycrate::foo' 'list shows demangled names'
is "$(xa list libnames.so 'ns::f' | sed -n '1s/: .*//p')" 'ns::f()' 'and finds a symbol by its demangled name'
is "$(xa list libnames.so '_ZN2ns1fEv' | sed -n '1s/: .*//p')" 'ns::f()' 'by its raw one, too'
is "$(xa list --no-demangle libnames.so 'ns::f()' | sed -n '1s/: .*//p')" '_ZN2ns1fEv' \
	'by the demangled one also where that is not shown'
is "$(xa list --format=json libnames.so | jq -r '.functions[] | select(.demangled) | "\(.name) \(.demangled)"')" \
	'_ZN2ns1fEv ns::f()
_RNvCs1234_7mycrate3foo mycrate::foo' 'in JSON it has both'

# Of the standard library; the last two differ in what simple names leave out.
write_trace cxx <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libdb.so
function 1 0 1 0x100 _ZN2db3setERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt6vectorIiSaIiEE
function 1 0 2 0x200 _ZN2db3getESs
function 1 0 3 0x300 _ZN2db3getENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
thread 100 main
entry 1 1000
entry 2 1100
entry 3 1110
exit 3 1120
exit 2 1200
exit 1 2000
END
string='std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >'
is "$(xa report cxx | names)" "db::set(std::string const&, std::vector<int> const&) [libdb.so]
db::get(std::string) [libdb.so]
db::get($string) [libdb.so]" 'arguments that are the default are left out, but where names would be equal'
is "$(xa report --sort=self --columns=self --by=function cxx | sed -n 's/^.*s  //p')" \
	"$(xa report cxx | names)" 'sorted by another column, too'
write_trace tags <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libdb.so
function 1 0 1 0x100 _ZN2db1hB5cxx11Ev
function 1 0 2 0x200 _ZN2db1hEv
function 1 0 3 0x300 _ZN2db1iB5cxx11Ev
thread 100 main
entry 1 1000
entry 2 1100
entry 3 1110
exit 3 1120
exit 2 1200
exit 1 2000
END
for command in 'report --columns=total' 'graph --min=0' stacks 'report --columns=total --callers=*' \
	'report --hist=*'; do
	is "$(xa $command tags | grep -o 'db::h.*()' | sort -u)" 'db::h()
db::h[abi:cxx11]()' "xaudit ${command%% *}: both are whole, also where the first one comes first"
	is "$(xa $command tags | grep -o 'db::i.*()' | sort -u)" 'db::i()' 'and the third one is simple'
done
whole="db::set($string const&, std::vector<int, std::allocator<int> > const&)"
is "$(xa report --full-names cxx | names)" "$whole [libdb.so]
db::get(std::string) [libdb.so]
db::get($string) [libdb.so]" 'with --full-names all names are whole'
is "$(xa report --format=json cxx | jq -r '.functions[0].demangled')" \
	"$whole" 'in JSON they always are'
is "$(xa stacks --format=folded cxx | sed -n 's/ [0-9]*$//; 1p')" \
	"$whole" 'and in folded stacks'
is "$(xa slow 'db::set(std::string const&, std::vector<int> const&)' cxx | head -n 1)" \
	'db::set(std::string const&, std::vector<int> const&) [libdb.so]' 'a function is found by what is shown'
is "$(xa slow "$whole" cxx | head -n 1)" \
	'db::set(std::string const&, std::vector<int> const&) [libdb.so]' 'and by its whole name'
is "$(xa slow "db::get($string)" cxx | head -n 1)" "db::get($string) [libdb.so]" \
	'of functions with equal simple names one is found by its whole name'
xa slow 'db::get(std::string)' cxx >/dev/null 2>err
is "$(cat err)" "xaudit slow: 'db::get(std::string)' names 2 functions, one is needed: \
db::get(std::string)@libdb.so, db::get($string)@libdb.so" 'what both are called names both'
is "$(LC_ALL=C.UTF-8 on --columns=100 "$XAUDIT" report --columns=total --no-pager cxx | sed -n 3,5p)" \
	'   1.000 us  db::set(std::string const&, std::vector<int> const&) [libdb.so]
   0.100 us  db::get(std::string) [libdb.so]
   0.010 us  db::get(std::__cxx11::basic_string<char, …its<char>, std::allocator<char> >) [libdb.so]' \
	'on a terminal arguments are cut in the middle'
for command in report 'graph db::set*' 'slow db::set*' stacks outliers dump replay 'info -v' loads; do
	is "$(xa ${command%% *} --full-names --help | grep -c -- --full-names)" 1 \
		"xaudit ${command%% *} has --full-names"
done
is "$(xa graph --full-names cxx | grep -c 'db::set(std::__cxx11.*std::allocator<int> > const&)')" 1 'graph shows them'
is "$(xa graph cxx | grep -c 'db::set(std::string const&, std::vector<int> const&)')" 1 'and without it simple ones'

# ---- width ----

columns() {
	LC_ALL=$1 on --columns="$2" "$XAUDIT" report --no-pager d | names
}
is "$(columns C.UTF-8 210)" "$(xa report d | names)" 'on a terminal of 210 columns nothing is cut'
is "$(columns C.UTF-8 140)" '…:Polygon::number_of_sides(…) const [libshapes.so]
void shapes::count<int>(int) [libshapes.so]
<m::shapes::Circle<usize>>::area [libcrate.so]
core::fmt::write [libcrate.so]
plain [libcrate.so]' 'on one of 140 columns the longest name is cut, its method and its library are there'
is "$(columns C 140 | head -n 1)" '...ygon::number_of_sides(...) const [libshapes.so]' \
	'with three dots where the terminal knows no UTF-8'
is "$(LC_ALL=C.UTF-8 on --columns=140 "$XAUDIT" report --no-pager d | python3 -c '
import sys
print(max(len(line.rstrip("\n")) for line in sys.stdin.buffer.read().decode().splitlines()))')" 140 \
	'the widest row takes all 140 columns'
is "$(COLUMNS=200 LC_ALL=C.UTF-8 on --columns=80 "$XAUDIT" report --no-pager d | names | sed '1s/^shapes:://; q')" \
	'Polygon::number_of_sides(shapes::Option const&, char… int, double, unsigned long) const [libshapes.so]' \
	'COLUMNS counts more than the terminal'
is "$(columns C.UTF-8 80)" 'number_of_sides(…) … [libsha…
…shapes::count<…>(…) [libsha…
<m::sha…size>>::area [libcra…
core::fmt::write [libcrate.s…
plain [libcrate.so]' 'on one of 80 columns names are there, and what is no name makes room for them'
heads() {
	LC_ALL=C.UTF-8 on --columns=80 "$XAUDIT" report --no-pager "$@" | head -n 1 | tr -s ' \r' ' '
}
is "$(heads d)" ' Calls Total Self Max Function' 'columns are left out'
is "$(heads --sort=min d)" ' Calls Total Self Min Function' 'not that by which lines are sorted'
is "$(heads --columns=calls,total,self,min,p50,max d)" ' Calls Total Self Min Median Max Fu…' \
	'nor one that is asked for'
cp -r d e
is "$(heads --diff d e)" ' Self Change Total Change Mark Function' 'so it is with --diff'
# head_of COMMAND...: the head of its first table on 80 columns.
head_of() {
	LC_ALL=C.UTF-8 on --columns=80 "$XAUDIT" "$@" --no-pager | grep -B 1 '^===' | head -n 1 | tr -s ' \r' ' '
}
is "$(head_of outliers --factor=1 d)" ' Max P99 Max/P99 After start, s Thread Function' 'with outliers'
is "$(head_of loads d)" ' After start, s Loaded for Calls Library' 'and with loads'
write_trace one <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 libplain.so
function 1 0 1 0x100 plain
thread 100 main
$(for i in 1 2 3 4 5 6; do echo "entry 1 ${i}000"; echo "exit 1 ${i}100"; done)
entry 1 7000
exit 1 7900
END
is "$(head_of slow -n 1 plain one)" ' Difference Self Typical Function' 'and where slow tells of differences'
is "$(COLUMNS=100 xa report d)" "$(xa report d)" 'in a pipe nothing is cut, whatever COLUMNS says'
write_trace values <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libshapes.so
function 1 0 1 0x100 _ZN6shapes5countEiPKc
layout 1 entry 1 i4:arg0:n text:arg1:name
layout 2 exit 1 i4:ret:
thread 100 main
values 1 1000 3 =a_text_that_is_much_longer_than_a_terminal_is_wide_and_goes_on_and_on_without_any_end
values 2 1040 5
END
is "$(xa replay values | sed '1d; s/^[^|]*| //')" 'shapes::count(3, "a text that is much longer than a '\
'terminal is wide and goes on and on without any end") = 5;' 'values are in the place of the parameters of a name'
is "$(LC_ALL=C.UTF-8 on --columns=70 "$XAUDIT" replay --no-pager values | sed '1d; s/^[^|]*| //')" \
	'shapes::count(3, "a text that is much l… = 5;' 'arguments are cut so that the result is there'
is "$(on --columns=80 "$XAUDIT" report --no-pager --format=json d)" "$(xa report --format=json d)" \
	'nor is JSON, on a terminal'
is "$(LC_ALL=C.UTF-8 on --columns=60 "$XAUDIT" replay --no-pager d | sed -n 2p)" \
	'             [    100] | …olygon::number_of_sides(…) const {' 'replay keeps what stands behind a name'
is "$(LC_ALL=C.UTF-8 on --columns=40 "$XAUDIT" report --no-pager d | tail -n 1)" \
	'0 events lost, 0 calls unfinished' 'a sentence is not cut'
is "$(LC_ALL=C.UTF-8 on --columns=24 "$XAUDIT" report --no-pager d | tail -n 1)" \
	'0 events lost, 0 calls unfinished' 'a longer one than the terminal is wide neither'
is "$(LC_ALL=C.UTF-8 on --columns=100 "$XAUDIT" report --no-pager --color=always \
	--columns=calls,total,self,min,p50,p99,max d | sed -n 3p | tr '\033' E)" \
	"$(printf '%10d%13s%13s%13s%13s%13s%13s' 1 '1.000 us' '0.900 us' '1.000 us' '1.000 us' '1.000 us' \
		'1.000 us')  E[36mnumber_of…E[0mE[2mE[0m" 'colours end where a row is cut'

# ---- pager ----

PAGER='sed "s/^/P:/"'
export PAGER
is "$(on --columns=300 "$XAUDIT" report d)" "$(xa report d | sed 's/^/P:/')" 'the pager is that of PAGER'
for command in dump replay info 'list libnames.so'; do
	case $command in list*) trace= ;; *) trace=d ;; esac
	is "$(on --columns=300 "$XAUDIT" $command $trace)" "$(xa $command $trace | sed 's/^/P:/')" \
		"xaudit ${command%% *} has one, too"
done
is "$(xa report d | grep -c P:)" 0 'in a pipe there is none'
is "$(XAUDIT_PAGER='sed s/^/X:/' on "$XAUDIT" info d | cut -c1-2 | sort -u)" 'X:' 'XAUDIT_PAGER counts more'
is "$(on --columns=300 "$XAUDIT" report --no-pager d)" "$(xa report d)" 'with --no-pager there is none'
for none in '' cat; do
	is "$(XAUDIT_PAGER=$none on --columns=300 "$XAUDIT" report d)" "$(xa report d)" \
		"there is none if it is called '$none'"
	is "$(PAGER=$none on --columns=300 "$XAUDIT" report d)" "$(xa report d)" "PAGER='$none' says so, too"
done
is "$(PAGER=no-such-pager-here on --columns=300 "$XAUDIT" report d)" "$(xa report d)" \
	'a pager that is not there is done without'
is "$(PAGER='cat >/dev/null; echo "$LESS $LV"' on "$XAUDIT" report d)" 'FRX -c' 'LESS and LV are set for it'
is "$(LESS=R LV=-x PAGER='cat >/dev/null; echo "$LESS $LV"' on "$XAUDIT" report d)" 'R -x' 'where they were not set'
is "$(PAGER='cat >/dev/null; sleep 1; echo END' on "$XAUDIT" report d)" END 'the command waits for its end'
is "$(unset NO_COLOR; PAGER='grep -c "^.\[1m *Calls"' on "$XAUDIT" report d)" 1 'colours stay'
PAGER='exit 3' on "$XAUDIT" report d >/dev/null
is $status 0 'the status is that of the command, not of the pager'
mkdir nothing
is "$(on "$XAUDIT" report nothing)" \
	'xaudit: no traced process in nothing; is it a folder that `xaudit record` made?' \
	'without output there is no pager'
on "$XAUDIT" report nothing >/dev/null
is $status 1 'and the status is as ever'
cp -R d damaged
printf 'xxxx' | dd of=damaged/p100/t0 bs=1 seek=0 conv=notrunc 2>/dev/null
xa report damaged >/dev/null 2>said
on "$XAUDIT" report damaged >shown
is $status 1 'of a damaged trace the status is 1, also through a pager'
like "$(cat shown)" '^P:xaudit: damaged/p100/t0: offset 0: ' 'and what is said of that comes through the pager'
on --stderr=err "$XAUDIT" report damaged >shown
is "$(cat err)" "$(cat said)" 'messages go where they went, if that is no terminal'

# Much more than a pipe holds.
write_trace long <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000000 9000000 8995005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
thread 100 main
loop 5000 10
entry 1 1000
exit 1 1005
end
END
PAGER='head -n 1 | sed s/#/HEAD/' on "$XAUDIT" replay long >shown
is "$(sed 's/  .*//' shown)" HEAD 'a pager that ends early ends the output'
is $status 0 'that is no failure'
PAGER='trap "" INT; echo READY; sleep 1; cat >/dev/null; echo PAGER ENDS' \
	on --when=READY --send='\x03' "$XAUDIT" dump long >shown
is $status 130 'a command that ^C ends, ends by SIGINT'
like "$(tail -n 1 shown)" 'PAGER ENDS$' 'after its pager has ended'
if command -v less >/dev/null; then
	unset PAGER
	is "$(on --columns=300 "$XAUDIT" report d | sed 's/\x1b\[[?0-9]*[a-zA-Z]//g; s/\x1b[>=]//; $d')" \
		"$(xa report d)" 'less ends by itself if all fits on the screen'
	on --rows=10 --when=foo --send=q "$XAUDIT" dump long >shown
	is $status 0 'less has the keyboard: q ends it, and the command'
	is "$(TERM=dumb on --rows=10 "$XAUDIT" dump long | wc -l)" 10000 'on a dumb terminal it is not started'
else
	skip 3 'no less'
fi
done_testing
