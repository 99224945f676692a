# SPDX-License-Identifier: MIT
#
# Judges what t/lib/inject did: awk -f inject.awk [VARIABLE=VALUE]... LIST LOSSES DUMP. Each stack has its own open
# calls. LIST is what it wrote; LOSSES has "PID N" of each process that lost events; DUMP is the trace as text. A
# round's events end with those of mark(), in its own thread.
#
#	what	the function whose calls are counted ("counted"), as a regular expression
#	customs	1: custom events count as such calls
#	each	how many calls of such are one (1)
#	skip	rounds that the list doesn't know (3), in its thread; none where each round has a thread of its own
#	taken	so many calls are not in the trace, in all (-1: none are missing)
#	off	how much a round's time may be off, of itself (0.1): less than the 0.67 that another span makes it
#	apart	1: a jump leaves open calls behind, on another stack
#	early	1: the child of vfork may lose its call: its parent's thread has no place for it yet
#
# Says what is wrong with which round, and at the end: N rounds, M wrong, and for each kind "KIND: N rounds, M wrong".
BEGIN {
	what = "counted"
	each = 1
	skip = 3
	taken = -1
	off = 0.1
}
function wrong(n, text) {
	if (!(n in kind)) {
		elsewhere = elsewhere (elsewhere == "" ? " " : ", ") text (thread == "" ? "" : " (thread " thread ")")
		return
	}
	if (index(said[n], text))
		return
	said[n] = said[n] ", " text
}
# To ask for the kind of a round that the list does not know would make it one.
function kind_of(n) {
	return n in kind ? kind[n] : "none"
}
FILENAME == ARGV[ARGC - 3] {
	n = ++rounds
	kind[n] = $1
	round[$3, ++of_thread[$3]] = n
	if ($5 > 0) {
		forked[$5] = n
		times[$5]++ # numbers come again
	}
	if ($7 != 0)
		wrong(n, "its child ended with " $7)
	begun[n] = $9
	ended[n] = $11
	handled[n] = $13
	ticks[n] = $17
	if ($19 != 0)
		wrong(n, $19 " registers or results")
	if ($21 != 0)
		wrong(n, "the helper could not")
	place[n] = $23
	next
}
FILENAME == ARGV[ARGC - 2] {
	if ($1 in forked)
		wrong(forked[$1], "its child lost " $2)
	else
		lost += $2
	next
}
$1 == "#" { next } # times are coarse
$3 == "stack" {
	at[$2] = $5
	next
}
$3 == "load" || $3 == "unload" || $3 == "change" { next }
{
	thread = $2
	here = thread " " at[thread]
	n = thread in forked ? forked[thread] : round[thread, marks[thread] - skip + 1]
	if (thread in last && $1 < last[thread])
		wrong(n, "time steps back")
	last[thread] = $1
}
$3 == "entry" || $3 == "custom" {
	entries += $3 == "entry"
	if ($5 == "mark" && !(thread in forked)) {
		if (depth[here] && taken < 0 && !(apart && kind_of(n) == "jump"))
			wrong(n, depth[here] " calls are open")
		depth[here] = 0
	}
	if (thread in forked)
		in_child[thread] += $5 == "in_child"
	else if ($3 == "custom" ? customs : $5 ~ "^(" what ")$")
		counts[n]++
	else if ($5 == "handled")
		handles[n]++
	if ($3 == "entry" && NF <= 6)
		stack[here, ++depth[here]] = $5
	next
}
$3 == "exit" || $3 == "tail" || $3 == "unwind" {
	if (depth[here] > 0 && stack[here, depth[here]] == $5) {
		depth[here]--
		if ($3 == "unwind" && kind_of(n) != "jump" && taken < 0)
			wrong(n, "a call of " $5 " counts as unwound")
	} else if (thread in forked && taken < 0) {
		# Of a call that its parent began.
		if (++inherited[thread] > 2 * times[thread] || $5 == "in_child")
			wrong(n, "an end of " $5 " without its call")
	} else if (taken >= 0) {
		ends_alone++ # which round it is, is not known: mark() may be left out
	} else if (kind_of(n) != "jump" || ++ends[n] > 1) {
		# A jump may come between the note of a call and its event.
		wrong(n, "an end of " $5 " without its call")
	}
	if ($3 == "exit" && thread in forked)
		child_ends[thread] += $5 == "in_child"
	if ($5 == "mark" && !(thread in forked)) {
		marks[thread]++
		if (thread in marked)
			lasted[n] = $1 - marked[thread]
		marked[thread] = $1
	}
	next
}
$3 == "thread" { next }
$3 == "lost" {
	# Of threads that have none, LOSSES alone tells.
	if (n in kind && !(thread in forked)) {
		wrong(n, "an event is lost")
		lost -= $5
	}
	next
}
{ wrong(n, "there is an event of type " $3) }
END {
	for (thread in forked)
		if (taken < 0 && (in_child[thread] != 5 * times[thread] || child_ends[thread] != 5 * times[thread]))
			wrong(forked[thread], sprintf("its child's trace has %d calls and %d ends of %d",
				in_child[thread], child_ends[thread], 5 * times[thread]))
	for (n = 1; n <= rounds; n++) {
		# The call of the task, which has no record of its own.
		if (kind[n] == "task")
			lost--
		begun[n] *= each
		ended[n] *= each
		most += begun[n] + handled[n] + 1
		least += (kind[n] == "jump" ? ended[n] : begun[n]) + handled[n] + 1
		if (kind[n] == "fork")
			most++ # the child may count the call, too
		if (taken >= 0)
			continue
		if (kind[n] == "jump" ? counts[n] < ended[n] || counts[n] > begun[n] : counts[n] != begun[n])
			wrong(n, sprintf("%d calls of %d", counts[n], begun[n]))
		if (early && kind[n] == "vfork" && lost > 0 && handles[n] == 0)
			lost--
		else if (handles[n] != handled[n])
			wrong(n, sprintf("%d calls in handlers of %d", handles[n], handled[n]))
		if (ticks[n] > 0 && taken < 0) {
			all += lasted[n]
			all_ticks += ticks[n]
		}
	}
	for (n = 1; n <= rounds; n++) {
		lasting = all > 0 && ticks[n] > 0 ? all * ticks[n] / all_ticks : 0
		if (lasting > 0 && (lasted[n] < (1 - off) * lasting || lasted[n] > (1 + off) * lasting))
			wrong(n, sprintf("it lasted %.2f s of %.2f", lasted[n], lasting))
		kinds[kind[n]]++
		if (n in said) {
			bad++
			bads[kind[n]]++
			print kind[n] " at " place[n] " (round " n "): " substr(said[n], 3)
		}
	}
	if (taken >= 0) {
		# inject_seen(), handled(), mark() and 3 calls, two rounds that the list does not know, children.
		for (thread in forked)
			children += 5 * times[thread]
		most += 6 + 2 * (each + 1) + children
		least += 6 + 2 * (each + 1) + children
		for (n = 1; n <= rounds; n++)
			jumps += kind[n] == "jump" || kind[n] == "fork"
		if (ends_alone > jumps)
			elsewhere = sprintf(" %d ends without their calls", ends_alone)
		if (entries + taken < least || entries + taken > most)
			elsewhere = sprintf(" %d calls, %d left out, of %d to %d", entries, taken, least, most)
	}
	if (lost)
		print lost " events were lost"
	if (elsewhere)
		print "elsewhere:" substr(elsewhere, 1, 200)
	printf "%d rounds, %d wrong\n", rounds, bad + (lost != 0) + (elsewhere != "")
	for (k in kinds)
		printf "%s: %d rounds, %d wrong\n", k, kinds[k], bads[k]
}
