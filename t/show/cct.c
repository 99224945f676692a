/* SPDX-License-Identifier: MIT */
/* The tree of calls: numbers of nodes from calls that are made up here, as the cursor would give them. */
#include "tool/show/calls/cct.h"

#include "t/lib/tap.h"

#define UNKNOWN XAUDIT_READ_UNKNOWN

static const struct xaudit_read_function function[] = {
	{ .number = 0 }, { .number = 1 }, { .number = 2 }, { .number = 3 }, { .number = 200 },
};

static struct xaudit_read_call begin(struct xaudit_read_call *parent, unsigned number)
{
	return (struct xaudit_read_call){ .parent = parent, .function = &function[number], .end = UNKNOWN,
		.ticks = { .cpu = UNKNOWN } };
}

/* The call is over: it has this total, self and processor time. */
static uint32_t end(struct cct *cct, struct xaudit_read_call *call, uint64_t total, uint64_t self, uint64_t cpu)
{
	call->how = XAUDIT_READ_RETURNED;
	call->end = 0;
	call->ticks.total = total;
	call->ticks.self = self;
	call->ticks.cpu = cpu;
	if (call->parent)
		call->parent->ticks.children += self + call->ticks.children;
	return cct_take(cct, call);
}

/* Calls that never ended have no time. */
static uint32_t give_up(struct cct *cct, struct xaudit_read_call *call, uint64_t total)
{
	call->how = XAUDIT_READ_NO_END;
	call->ticks.total = total;
	if (call->parent)
		call->parent->ticks.children += call->ticks.children;
	return cct_take(cct, call);
}

static const struct cct_node *path(const struct cct *cct, unsigned length, const unsigned *number)
{
	uint32_t node = CCT_ROOT;

	for (unsigned i = 0; i < length; i++)
		if (!(node = cct_find(cct, node, function[number[i]].number)))
			return NULL;
	return &cct->node[node];
}
#define PATH(cct, ...) path(cct, sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned), (unsigned[]){ __VA_ARGS__ })

/* Where children have the same time, more calls come first; then the function that was met first. */
static void sort_equals(void)
{
	static const struct { unsigned function, calls; } given[] = { { 3, 1 }, { 1, 1 }, { 2, 2 }, { 0, 1 } };
	uint32_t order[4] = { 0 }, n = 0;
	struct cct cct;

	cct_open(&cct, 100);
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < given[i].calls; k++) {
			struct xaudit_read_call call = begin(NULL, given[i].function);
			end(&cct, &call, 12 / given[i].calls, 12 / given[i].calls, UNKNOWN);
		}
	}
	for (int total = 0; total < 2; total++) {
		cct_sort(&cct, total);
		n = 0;
		for (uint32_t node = cct.node[CCT_ROOT].child; node && n < 4; node = cct.node[node].next)
			order[n++] = cct.node[node].function;
		ok(n == 4 && order[0] == 2 && order[1] == 0 && order[2] == 1 && order[3] == 3,
			"equals are sorted by calls, then by function, by %s", total ? "total" : "time");
	}
	cct_close(&cct);
}

static void check_node(const char *what, const struct cct_node *node, uint64_t calls, uint64_t total, uint64_t self,
	uint64_t all)
{
	if (!ok(node != NULL, "%s has a node", what))
		return;
	is_int((long long)node->calls, (long long)calls, "its calls are counted");
	is_int((long long)node->total, (long long)total, "so is its total");
	is_int((long long)node->own.time, (long long)self, "its self time");
	is_int((long long)node->all.time, (long long)all, "and the time of the path");
}

/* a calls b twice, and c, which calls b; then a again, alone. */
static void check_paths(void)
{
	struct cct cct;
	struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c, d;

	cct_open(&cct, 1000);
	end(&cct, &b, 30, 30, UNKNOWN);
	b = begin(&a, 1);
	end(&cct, &b, 40, 40, UNKNOWN);
	c = begin(&a, 2);
	d = begin(&c, 1);
	end(&cct, &d, 5, 5, UNKNOWN);
	end(&cct, &c, 8, 3, UNKNOWN);
	end(&cct, &a, 100, 22, UNKNOWN);
	a = begin(NULL, 0);
	uint32_t last = end(&cct, &a, 10, 10, UNKNOWN);
	cct_sum(&cct);
	check_node("a", PATH(&cct, 0), 2, 110, 32, 110);
	check_node("a b", PATH(&cct, 0, 1), 2, 70, 70, 70);
	check_node("a c", PATH(&cct, 0, 2), 1, 8, 3, 8);
	check_node("a c b", PATH(&cct, 0, 2, 1), 1, 5, 5, 5);
	ok(!PATH(&cct, 1), "b was never called by nobody");
	ok(&cct.node[last] == PATH(&cct, 0), "taking a call gives its node");
	is_int((long long)cct.node[CCT_ROOT].all.time, 110, "the root has the time of all");
	is_int((long long)cct_function(&cct, 1)->calls, 3, "the function b has the calls of both paths");
	is_int((long long)cct_function(&cct, 1)->total, 75, "and their total");
	is_int((long long)cct_function(&cct, 1)->own.time, 75, "and self time");
	is_int((long long)PATH(&cct, 0)->all.timed, 0, "nothing is known of processors");

	cct_sort(&cct, false);
	uint32_t node = cct_next(&cct, CCT_ROOT, CCT_ROOT, false), order[5], n = 0;
	for (; node && n < 5; node = cct_next(&cct, CCT_ROOT, node, false))
		order[n++] = cct.node[node].function * 10 + cct.node[node].depth;
	is_int(n, 4, "a walk meets each node once");
	ok(n == 4 && order[0] == 1 && order[1] == 12 && order[2] == 22 && order[3] == 13,
		"parents first, and of children that with most time");
	uint32_t first = cct.node[CCT_ROOT].child;
	sort_equals();
	is_int(cct_next(&cct, CCT_ROOT, first, true), CCT_ROOT, "what is below a node can be left out");
	uint32_t under = cct_find(&cct, first, 2);
	is_int(cct.node[cct_next(&cct, under, under, false)].depth, 3, "a walk may begin anywhere");
	is_int(cct_next(&cct, under, cct_next(&cct, under, under, false), false), CCT_ROOT, "and ends there");

	cct_clear(&cct);
	is_int(cct.nodes, 1, "a cleared tree has its root alone");
	ok(!cct_find(&cct, CCT_ROOT, 0), "and finds nothing");
	a = begin(NULL, 0);
	end(&cct, &a, 7, 7, UNKNOWN);
	cct_sum(&cct);
	check_node("a after that", PATH(&cct, 0), 1, 7, 7, 7);
	is_int((long long)cct_function(&cct, 1)->calls, 0, "sums of functions begin anew");
	is_int((long long)cct_function(&cct, 12345)->calls, 0, "a function without calls has none");
	cct_close(&cct);
}

/* f calls itself, and the outermost call never ends: of its 100, 90 are known. */
static void check_recursion(void)
{
	struct cct cct;
	struct xaudit_read_call f = begin(NULL, 4), g = begin(&f, 4), h = begin(&g, 4), p;

	cct_open(&cct, 1000);
	h.recursion = 2;
	end(&cct, &h, 0, 50, UNKNOWN);
	g.recursion = 1;
	end(&cct, &g, 0, 40, UNKNOWN);
	p = begin(&f, 0);
	p.how = XAUDIT_READ_POINT;
	cct_take(&cct, &p);
	give_up(&cct, &f, 90);
	cct_sum(&cct);
	check_node("f", PATH(&cct, 4), 1, 90, 0, 90);
	check_node("f f", PATH(&cct, 4, 4), 1, 0, 40, 90);
	check_node("f f f", PATH(&cct, 4, 4, 4), 1, 0, 50, 50);
	check_node("a call traced at its entry only", PATH(&cct, 4, 0), 1, 0, 0, 0);
	is_int((long long)cct_function(&cct, 200)->total, 90, "the function's total counts no moment twice");
	is_int((long long)cct_function(&cct, 200)->calls, 3, "all of its calls are counted");
	cct_close(&cct);
}

/* a is 100, 60 of them on a processor; b in it is 50, 20 of them on a processor. */
static void check_processor(void)
{
	struct cct cct;
	struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c;

	cct_open(&cct, 1000);
	end(&cct, &b, 50, 50, 20);
	end(&cct, &a, 100, 50, 60);
	cct_sum(&cct);
	is_int((long long)PATH(&cct, 0)->own.cpu, 40, "processor time leaves out that of calls in it");
	is_int((long long)PATH(&cct, 0)->own.timed, 50, "all of the self time is accounted for");
	is_int((long long)PATH(&cct, 0, 1)->own.cpu, 20, "a call in it has its own");
	is_int((long long)PATH(&cct, 0)->all.cpu, 60, "the path has both");

	/* c has no end, but b in it has: a's own is what neither has. */
	cct_clear(&cct);
	a = begin(NULL, 0);
	c = begin(&a, 2);
	b = begin(&c, 1);
	end(&cct, &b, 50, 50, 20);
	give_up(&cct, &c, 0);
	end(&cct, &a, 100, 50, 60);
	cct_sum(&cct);
	is_int((long long)PATH(&cct, 0)->own.cpu, 40, "a call without end hands on what is known of calls in it");
	is_int((long long)PATH(&cct, 0, 2)->own.timed, 0, "of itself nothing is known");

	/* Of b the processor time is not known: a's own part isn't, either. */
	cct_clear(&cct);
	a = begin(NULL, 0);
	b = begin(&a, 1);
	end(&cct, &b, 50, 50, UNKNOWN);
	end(&cct, &a, 100, 50, 60);
	cct_sum(&cct);
	is_int((long long)PATH(&cct, 0)->own.timed, 0, "what can't be told apart is not guessed");
	is_int((long long)PATH(&cct, 0)->all.cpu, 60, "the path's is known all the same");
	cct_close(&cct);
}

/* Only calls that began at 100 or later are given: b in a, which began before; c in b, before and after. */
static void check_from(void)
{
	struct cct cct;
	struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c = begin(&b, 2);

	cct_open(&cct, 1000);
	cct.from = 100;
	a.start = 10;
	b.start = 20;
	c.start = 100;
	end(&cct, &c, 7, 7, UNKNOWN);
	b = begin(&a, 1);
	b.start = 110;
	c = begin(&b, 2);
	c.start = 111;
	c.ticks.self = 5;
	b.ticks.children = 5; /* c is not given, but b's time is whole */
	end(&cct, &b, 30, 25, UNKNOWN);
	cct_sum(&cct);
	check_node("a, of which no call is given,", PATH(&cct, 0), 0, 0, 0, 37);
	check_node("a b", PATH(&cct, 0, 1), 1, 30, 25, 37);
	check_node("a b c", PATH(&cct, 0, 1, 2), 1, 7, 7, 7);
	is_int((long long)cct.node[CCT_ROOT].all.time, 37, "the root has what was given");
	cct_close(&cct);
}

/* Room for the root and two nodes: a, and b in it. */
static void check_most(void)
{
	struct cct cct;
	struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c = begin(&b, 2), d = begin(&c, 1);

	cct_open(&cct, 3);
	uint32_t node = end(&cct, &d, 1, 1, UNKNOWN);
	end(&cct, &c, 3, 2, UNKNOWN);
	end(&cct, &b, 6, 3, UNKNOWN);
	end(&cct, &a, 10, 4, UNKNOWN);
	a = begin(NULL, 3);
	end(&cct, &a, 20, 20, UNKNOWN);
	cct_sum(&cct);
	check_node("b, with what has no node", PATH(&cct, 0, 1), 1, 6, 6, 6);
	check_node("a", PATH(&cct, 0), 1, 10, 4, 10);
	ok(&cct.node[node] == PATH(&cct, 0, 1), "a call without a node is taken for the one around it");
	is_int((long long)cct.folded, 3, "such calls are told");
	is_int((long long)cct.node[CCT_ROOT].all.time, 30, "no time is lost, not that of an outermost call either");
	is_int((long long)cct_function(&cct, 2)->total, 3, "and functions have it all");
	cct_close(&cct);
}

/* Many nodes, and millions of open calls at once. */
static void check_deep(void)
{
	enum { DEPTH = 2000000 };
	struct xaudit_read_call *call = calloc(DEPTH, sizeof(*call));
	struct cct cct;

	if (!call)
		bail("no memory");
	cct_open(&cct, CCT_MOST);
	for (unsigned i = 0; i < DEPTH; i++)
		call[i] = begin(i ? &call[i - 1] : NULL, i % 3);
	for (unsigned i = DEPTH; i--;)
		end(&cct, &call[i], 1, 1, UNKNOWN);
	cct_sum(&cct);
	is_int(cct.nodes, DEPTH + 1, "two million calls in one another have as many nodes");
	is_int((long long)cct.node[cct.node[CCT_ROOT].child].all.time, DEPTH, "whose times add up");
	cct_close(&cct);
	free(call);
}

/* Below the root, whatever is around it; and the high half of user[0] is ours. */
static void check_root(void)
{
	struct cct cct;
	struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c = begin(&b, 2);

	cct_open(&cct, 1000);
	b.user[0] = 5ull << 32;
	cct_enter_root(&cct, &b);
	c.user[0] = 5ull << 32;
	end(&cct, &c, 1, 1, UNKNOWN);
	end(&cct, &b, 3, 2, UNKNOWN);
	cct_sum(&cct);
	check_node("a call at the root", PATH(&cct, 1), 1, 3, 2, 3);
	check_node("what it calls", PATH(&cct, 1, 2), 1, 1, 1, 1);
	is_int((long long)(b.user[0] >> 32), 5, "the caller's half of user[0] stays");
	is_int((long long)a.user[0], 0, "a call around it has no node");
	cct_close(&cct);
}

/* A tree of function 0, which calls 1, so many times; and number 200 at the root, which is that of no function. */
static void make_tree(struct cct *cct, uint32_t most, unsigned times)
{
	cct_open(cct, most);
	for (unsigned i = 0; i < times; i++) {
		struct xaudit_read_call a = begin(NULL, 0), b = begin(&a, 1), c = begin(NULL, 4);

		end(cct, &b, 10, 10, 4);
		end(cct, &a, 30, 20, 10);
		end(cct, &c, 5, 5, UNKNOWN);
	}
	cct_sum(cct);
}

/* What is 0 there is 2 here, and 1 is 0. */
static void check_merge(void)
{
	static const uint32_t number[] = { 2, 0 };
	struct cct to, from;
	uint32_t in[8];

	make_tree(&to, 100, 1);
	make_tree(&from, 100, 2);
	cct_merge(&to, &from, number, 2, in);
	check_node("what was there, and has no equal", PATH(&to, 0), 1, 30, 20, 30);
	check_node("a path that came from the other tree", PATH(&to, 2), 2, 60, 40, 60);
	check_node("and what is below it", PATH(&to, 2, 0), 2, 20, 20, 20);
	check_node("a number that is no function's is the same", PATH(&to, 4), 3, 15, 15, 15);
	is_int((long long)to.node[CCT_ROOT].all.time, 105, "the time of both");
	is_int((long long)cct_function(&to, 2)->calls, 2, "functions have the sums of both: calls,");
	is_int((long long)cct_function(&to, 0)->total, 50, "total,");
	is_int((long long)cct_function(&to, 0)->own.cpu, 14, "processor time");
	ok(&to.node[in[1]] == PATH(&to, 2) && &to.node[in[2]] == PATH(&to, 2, 0), "it is told which node is which");
	cct_close(&to);
	make_tree(&to, 4, 1);
	cct_merge(&to, &from, number, 2, in);
	ok(!in[1] && !in[2], "where there is no room, nodes are folded");
	is_int((long long)to.folded, 4, "so are their calls");
	is_int((long long)to.node[CCT_ROOT].own.time, 60, "whose time is that of the node around them");
	check_node("and others are not", PATH(&to, 4), 3, 15, 15, 15);
	cct_close(&to);
	cct_close(&from);
}

int main(void)
{
	check_paths();
	check_recursion();
	check_processor();
	check_from();
	check_most();
	check_deep();
	check_root();
	check_merge();
	return done_testing();
}
