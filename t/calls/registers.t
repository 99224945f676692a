#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Code that runs in the middle of a traced call uses only general registers, at every depth: the trampolines, and all
# code that they reach, are disassembled from libxaudit.so. Code that uses other registers restores them.
. "${top_srcdir:-.}/t/lib/tap.sh"

need objdump
skip_sanitized

# Functions that may use other registers: they save and restore them, or only read them.
saves='^(tramp_call_saved|handler_call_codes|vectors_keep|vectors_low)$'
# The function that may use the first four SSE registers, moving whole ones: the copy of custom events.
copies='^(recorder_custom|copy_in)([.]|$)'

# Calls through a pointer: functions that make them, where the pointer is; functions of ours that it may point to ("-":
# none), and which other code it may. A function made by the compiler, such as f.part.0, counts as f. "given": its
# address is taken by a caller that the check visits.
cat >"$tmp/pointers" <<'END'
tramp_(gate|sample)_[a-z_]*|tramp_labels_back / dispatch_table / - / the trampolines, all of which we look at
tramp_(watch_[a-z]*|xray_watch|probe_watch) / dispatch_watched / - / the same
actions_(do|take)|snapshot_number / <hooks|%r / ask_number ask_snapshot / given
tramp_(intercept|call|return|point|pass|jump|landed|prctl|count|cfa|exec)[a-z_]* / \(%rsp\) / - / the program's function
tramp_sample_[a-z_]* / \(%rsp\) / - / the same
call_with_ours / %r / - / execve() or so of the libc that the program has called, in its stead
tramp_xray[a-z_]* / \(%rsp\) / - / the same
tramp_(custom|typed)[a-z_]* / \(%rsp\) / - / the program's function
slow_call|handler_call|handler_call_xray / %r / - / given
tramp_call_saved / %r / - / a handler of the program, registers saved
(tramp_handle|settle|tell|handlers_deliver)[a-z_]*|leave|enter / %r / - / a handler of the program that promised that
handlers_(custom|typed|load|unload|tell)[a-z_]* / %r / - / the same
tramp_cyg / \(%rdx\) / cyg_enter cyg_leave / given
cyg_(enter|leave) / %r / - / the program's own profiler
vectors_keep / %r / - / pthread_setspecific of the program's libc, registers saved
clock_[a-z_]*|tramp_clock|read_time / get_time|%r / ask_kernel clock_gettime / given
clock_gettime / fast_time|%r / - / the kernel's: looked at below
mirror_new / %r / memory_for_stacks / given
thread_get|thread_caller|begin_record / <hooks|%r / folder_begun record_taken / given
thread_ended / <hooks|%r / calls_unwind_all handlers_thread_ended / given
calls_unwind|end_calls / <hooks|%r / handlers_frames_gone handlers_unwind values_end / given
control_run|obey / <change>|%r / switch_obey / given
grow_without_descriptors / %r / grow_apart / given
process_confine / %r / - / check_confine: callers of prctl() and syscall() have saved theirs, as for any function
process_start / options|%r / control_permit announce_all own_labels_start / given
epoch_reclaim / \(%r / recycle retired_free / given
thread_each|mirror_each / %r / - / given
each_place / %r / list_place copy_counts / given
backtrace_walk / %r / rule_of / given
values_evaluate / %r / walk / given
snapshot_(write|make_file) / %r / - / the command's; in the traced process there is none
write_pages|stub_write / %r / - / given
END

# Instructions that use more than they name.
others='^(f|emms|v?ldmxcsr|v?stmxcsr|vzero|xsave|xrstor|ldtile|tile)'

# closure ROOTS FILE: a line for each error, and in the last line how many functions were reached.
closure() {
	objdump -d -w --no-show-raw-insn "$2" >"$tmp/text" || bail "objdump fails on $2"
	awk -v roots="$1" -v saves="$saves" -v copies="$copies" -v others="$others" '
	function number(hex, i, n) {
		n = 0
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	# The function that begins at the address, or that holds it.
	function edge(hex, where, at) {
		if (where == name[current] || index(where, name[current] "+") == 1)
			return
		at = number(hex)
		if (match(where, /\+0x[0-9a-f]+$/))
			at -= number(substr(where, RSTART + 3))
		to[current] = to[current] " " at
	}
	function reach(at, from) {
		if (at in begins && !(at in seen)) {
			seen[at] = 1
			queue[++last] = at
			by[at] = from
		}
	}
	function way(at, text) {
		for (text = name[at]; by[at] != ""; text = name[at] " > " text)
			at = by[at]
		return text
	}
	FILENAME != ARGV[2] {
		split($0, field, " / ")
		pointers++
		who[pointers] = "^(" field[1] ")([.]|$)"
		place[pointers] = field[2]
		targets[pointers] = field[3]
		next
	}
	/^[0-9a-f]+ <.*>:$/ {
		hex = $1
		sub(/^0+/, "", hex)
		at = number(hex)
		if (current && !ends)
			to[current] = to[current] " " at # it goes on there
		current = at
		begins[at] = 1
		name[at] = substr($2, 2, length($2) - 3)
		all[++functions] = at
		ends = 1
		table = 0
		next
	}
	/^ *[0-9a-f]+:\t/ {
		sub(/^ *[0-9a-f]+:\t/, "")
		sub(/^(notrack|bnd|rep|repz|lock) +/, "")
		operation = $1
		if (operation ~ /^(nop|xchg|int3|cs|data16)/)
			next
		ends = operation ~ /^(jmp|ret|ud2|hlt)/
		if (operation ~ /^movslq/ && /\(/)
			table = 7 # the jump of a switch follows
		table--
		if ((/%([xyz]mm|mm|k)[0-7]|%st/ || operation ~ others) && !(name[current] ~ saves) &&
			!(name[current] ~ copies && /^movups .*%xmm[0-3](,|$)/))
			wrong[current] = wrong[current] "\n" $0
		if (/^(call|jmp)[a-z]* +\*/) {
			if (!(table >= 0 && operation ~ /^jmp/))
				calls[current] = calls[current] "\n" $0
		} else if (operation ~ /^(call|j)/ && $2 ~ /^[0-9a-f]+$/)
			edge($2, substr($3, 2, length($3) - 2))
		else if (operation ~ /^lea/ && match($0, /# [0-9a-f]+ </)) {
			hex = substr($0, RSTART + 2, RLENGTH - 4)
			to[current] = to[current] " " number(hex) # its address is taken, where it is a function
		}
	}
	END {
		for (i = 1; i <= functions; i++)
			if (name[all[i]] ~ roots)
				reach(all[i], "")
		while (first < last) {
			at = queue[++first]
			if (name[at] ~ /@plt/) {
				print "libc: " way(at)
				continue
			}
			n = split(to[at], next_ones, " ")
			for (i = 1; i <= n; i++)
				reach(next_ones[i], at)
			n = split(calls[at], lines, "\n")
			for (i = 2; i <= n; i++) {
				for (p = 1; p <= pointers; p++)
					if (name[at] ~ who[p] && lines[i] ~ place[p])
						break
				if (p > pointers) {
					print "pointer: " way(at) ": " lines[i]
					continue
				}
				used[p] = 1
				m = split(targets[p], target, " ")
				for (t = 1; t <= m; t++)
					for (j = 1; j <= functions; j++)
						if (name[all[j]] == target[t]) {
							reach(all[j], at)
							found[target[t]] = 1
						}
				for (t = 1; t <= m; t++)
					if (target[t] != "-" && !(target[t] in found))
						print "no function: " target[t]
			}
			if (at in wrong)
				print "register: " way(at) ":" wrong[at]
		}
		print last + 0
	}' "$tmp/pointers" "$tmp/text"
}

roots='^(tramp_|control_entry|empty_function)'

# The check itself must find: a register in a function that is called, or whose address is taken; an unknown pointer;
# libc.
cat >"$tmp/f.c" <<'END'
#include <string.h>
double number; void (*pointer)(void); void *taken;
__attribute__((noinline)) static void uses(void) { number = number * 2 + 1; __asm__ volatile(""); }
__attribute__((noinline)) static void loads(void) { number = 1 / number; __asm__ volatile(""); }
void tramp_calls(void), tramp_takes(void), tramp_points(void), tramp_asks(const char *s), tramp_general(void);
void other(void);
void tramp_calls(void) { uses(); __asm__ volatile(""); }
void tramp_takes(void) { __asm__ volatile("" : : "r"(loads)); }
void tramp_points(void) { pointer(); __asm__ volatile(""); }
void tramp_asks(const char *s) { taken = (void *)strlen(s); }
void tramp_general(void) { taken = 0; }
void other(void) { number = 3 * number; }
END
$CC -O2 -fPIC -shared -fno-builtin -o "$tmp/f.so" "$tmp/f.c" || bail 'no compiler'
closure '^tramp_' "$tmp/f.so" | grep -E '^[a-z]+: ' | sed 's/: *[a-z]*  *[*].*//; s/:$//' | sort >"$tmp/found"
is "$(cat "$tmp/found")" 'libc: tramp_asks > strlen@plt
pointer: tramp_points
register: tramp_calls > uses
register: tramp_takes > loads' 'registers, unknown pointers and calls of libc are found however they are reached'

closure "$roots" "$MODULE" >"$tmp/found"
reached=$(tail -n 1 "$tmp/found")
is "$(sed '$d' "$tmp/found")" '' 'what the trampolines reach uses no vector or x87 register, and calls nothing unknown'
ok "it is $reached functions" test "$reached" -gt 120
closure '^(retired_free|recycle|announce_all|control_run)$' "$MODULE" >"$tmp/found"
is "$(sed '$d' "$tmp/found")" '' 'nor does what the epoch calls, what begins a folder, and what a stopped thread runs'
ok 'each of these is there' test "$(tail -n 1 "$tmp/found")" -gt 20

# If the clock is not the TSC, or is compared with others, the kernel's code in the process is called.
cat >"$tmp/vdso.c" <<'END'
#include <sys/auxv.h>
#include <unistd.h>
int main(void)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	long size = 65536;

	while (vdso && size && write(1, vdso, size) != size)
		size -= 4096; /* it ends before */
	return !vdso || !size;
}
END
$CC -o "$tmp/vdso" "$tmp/vdso.c" || bail 'no compiler'
if "$tmp/vdso" >"$tmp/vdso.so"; then
	objdump -T "$tmp/vdso.so" 2>/dev/null | awk '$NF == "__vdso_clock_gettime" {
		for (i = 2; i < NF; i++)
			if ($i == ".text")
				print $1, $(i + 1)
	}' | head -n 1 >"$tmp/place"
	read -r start size <"$tmp/place" || bail 'no clock_gettime in the vDSO'
	end=$(printf '0x%x' $((0x$start + 0x$size)))
	objdump -d --no-show-raw-insn --start-address="0x$start" --stop-address="$end" "$tmp/vdso.so" >"$tmp/clock"
	ok "the kernel's clock_gettime is there" grep -q 'ret' "$tmp/clock"
	is "$(grep -E '%[xyz]mm|%st|%mm' "$tmp/clock")" '' "the kernel's clock_gettime uses none"
else
	skip 2 'the kernel gives no vDSO'
fi
done_testing
