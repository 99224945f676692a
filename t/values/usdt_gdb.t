#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes that programs have of their own are those that gdb stops at, each as often, in the same order and with the same
# arguments: of Debian's python, which has counters of who listens, and of libstdc++, which has none.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/usdt.sh"
need gdb setarch

# Both have the program where the other has it.
setarch -R true 2>/dev/null || skip_all 'addresses can not be the same in two runs: setarch -R does not work'

cat >calls.py <<'END'
import gc, sys
def f(n):
    return 1 if n < 2 else n * f(n - 1)
def g():
    return [f(i) for i in range(5)]
def ignore(frame, event, argument):
    return None
# Without one, this python does not come to the probe.
sys.setprofile(ignore)
g()
sys.setprofile(None)
gc.collect(1)
import colorsys
print(sum(g()))
END
python=/usr/bin/python3
if "$XAUDIT" list --usdt "$python" 2>/dev/null | grep -q function__entry; then
	python=$(readlink -f "$python")
	{
		# shellcheck disable=SC2016
		stop python:function__entry 'entry %s %s %d' '(char *)$_probe_arg0' '(char *)$_probe_arg1' \
			'(int)$_probe_arg2'
		# shellcheck disable=SC2016
		stop python:import__find__load__start 'import %s' '(char *)$_probe_arg0'
		# shellcheck disable=SC2016
		stop python:gc__start 'start %d' '(int)$_probe_arg0'
		# shellcheck disable=SC2016
		stop python:gc__done 'done %ld' '(long)$_probe_arg0'
		echo run
	} >python.gdb
	sees python "$python" -I -S -B calls.py
	export PYTHONHASHSEED=0
	record py --probe entry=usdt:python:function__entry --context 'entry:string:file:arg1,string:name:arg2,arg3' \
		--probe import=usdt:python:import__find__load__start --context 'import:string:module:arg1' \
		--probe start=usdt:python:gc__start --probe 'done=usdt:python:gc__done' -- "$python" -I -S -B calls.py
	is "$status $out $err" '0 34 ' 'python prints what it does untraced'
	# f is called by g 1 + 1 + 2 + 3 + 4 times.
	has py
	is "$(grep -c "^entry $tmp/calls.py f 2\$\|^entry calls.py f 2\$" py.seen)" 11 'it enters a function 11 times'
	same python py "$(grep -c '^start ' python.seen)" start
	same python py 1 'import colorsys'
	ok 'there is something to be the same' [ "$(grep -c . python.seen)" -ge 20 ]
else
	skip 5 "$python has no probes of its own"
fi

cat >throws.cc <<'END'
#include <cstdio>

struct other {
	int n;
};

int main()
{
	int n = 0;
	for (int i = 0; i < 50; i++)
		try {
			if (i % 3 == 0)
				throw i;
			throw other{ i };
		} catch (int k) {
			n += k;
		} catch (other &o) {
			n += o.n > 0;
		}
	std::printf("%d\n", n);
}
END
g++ -O1 -o throws throws.cc || bail 'throws.cc does not compile'
library=$(ldd throws | sed -n 's/.*libstdc++[^ ]* => \([^ ]*\).*/\1/p')
if "$XAUDIT" list --usdt "$library" 2>/dev/null | grep -q throw; then
	{
		printf 'break main\nrun\n'
		# shellcheck disable=SC2016
		stop libstdcxx:throw 'throw %lu %d' '$_probe_arg1' '*(int *)$_probe_arg0'
		# shellcheck disable=SC2016
		stop libstdcxx:catch 'catch %lu %d' '$_probe_arg1' '*(int *)$_probe_arg0'
		echo continue
	} >throws.gdb
	sees throws ./throws
	rm -rf cc
	status=0
	out=$(bounded 60 setarch -R "$XAUDIT" record -o cc --probe throw=usdt:libstdcxx:throw \
		--context 'throw:arg2,int32:n:+0(arg1)' --probe catch=usdt:libstdcxx:catch \
		--context 'catch:arg2,int32:n:+0(arg1)' -- ./throws 2>&1) || status=$?
	# 0 + 3 + ... + 48, and 33 others.
	is "$status $out" '0 441' 'the program computes what it must'
	same throws cc 50 throw
	same throws cc 50 catch
else
	skip 3 "$library has no probes of its own"
fi
done_testing
