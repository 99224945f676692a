/* SPDX-License-Identifier: MIT */
/* Expressions: what is asked for in words is found, in a call that the test makes up; what is said of wrong ones. */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <stdlib.h>

#include "runtime/base/identity.h"
#include "runtime/values/evaluate.h"
#include "tool/values/condition.h"
#include "tool/values/operand.h"
#include "x86_64/contract.h"

static struct tramp_registers registers;
static uint64_t floats[8];
static int32_t pair[2] = { 11, 22 };
static uint64_t stack[4] = { 700, 800, 900, 0 };
static struct values_call call;
static struct values_asked asked;
static struct values_wrong wrong;

static uint64_t result = (uint64_t)-1;
static int64_t variable = -12345;
static char text_variable[] = "variable";

static bool look(void *context, const char *name, uint64_t *address)
{
	(void)context;
	if (!strcmp(name, "variable"))
		*address = (uint64_t)(uintptr_t)&variable - 0x1000;
	else if (!strcmp(name, "text_variable"))
		*address = (uint64_t)(uintptr_t)text_variable - 0x1000;
	else
		return false;
	return true;
}
/* What is known: that the first argument is an int called count, and so on. */
static const struct values_word words[] = {
	{ "count", VALUES_REGISTER, VALUES_RDI, VALUES_TYPE_SIGNED, 4, 0 },
	{ "size", VALUES_REGISTER, VALUES_R9, VALUES_TYPE_UNSIGNED, 4, 0 },
	{ "x", VALUES_FLOAT, 0, VALUES_TYPE_DOUBLE, 8, 0 },
	{ "y", VALUES_FLOAT, 1, VALUES_TYPE_FLOAT, 4, 0 },
	{ "text", VALUES_REGISTER, VALUES_RCX, VALUES_TYPE_TEXT, 0, 0 },
	{ "ret", VALUES_REGISTER, VALUES_RAX | 0x80, VALUES_TYPE_SIGNED, 4, 0 },
};
static const struct values_known nothing = { .look = look }, types = { .look = look, .word = words, .words = 6 },
				 *known = &nothing;

static bool compile(const char *contexts, const char *condition)
{
	memset(&asked, 0, sizeof(asked));
	return (!*contexts || values_ask(&asked, contexts, known, &wrong)) &&
	       (!condition || values_ask_if(&asked, condition, known, &wrong)) && values_complete(&asked, &wrong);
}

/* What a program's values are, as text: "name=value ..."; "out" for a call that is left out. */
static const char *show(const struct values_program *program, bool runs)
{
	static char line[2048];
	uint8_t out[VALUES_RECORDED];
	struct values_facts facts;
	size_t at = 1, n = 0;

	if (!runs || !program->size)
		return "";
	if (!values_check(program->code, program->size, &facts) || facts.values != program->values)
		return "refused";
	if (!values_evaluate(program->code, &call, out))
		return "out";
	const uint8_t *states = *out == VALUES_FLAWED ? out + 1 : NULL;
	at += states ? facts.values : 0;
	line[0] = '\0';
	for (uint32_t i = 0; i < program->values; i++) {
		const struct values_value *value = &program->value[i];
		uint64_t word = 0;
		size_t size = value->size;
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s=", i ? " " : "", value->name);
		if (!size) {
			size = out[at] | (size_t)out[at + 1] << 8;
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%.*s", (int)size, (char *)out + at + 2);
			size += 2;
		} else {
			memcpy(&word, out + at, size);
			if (value->type == VALUES_TYPE_SIGNED || value->type == VALUES_TYPE_ERRNO)
				word = (uint64_t)((int64_t)(word << (64 - 8 * size)) >> (64 - 8 * size));
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%lld", (long long)word);
		}
		if (states && states[i])
			n += (size_t)snprintf(line + n, sizeof(line) - n, "!%d", states[i]);
		at += size;
	}
	return line;
}

static void entry(const char *contexts, const char *expected)
{
	bool made = compile(contexts, NULL);
	const char *got = made ? show(&asked.entry, true) : wrong.part;

	ok(made && !strcmp(got, expected), "%s", contexts) || (diag("got %s, expected %s", got, expected), 0);
}

/* Runs the entry, changes the registers, and shows the end. */
static void end(const char *contexts, const char *expected)
{
	struct tramp_registers before = registers;
	bool made = compile(contexts, NULL);

	show(&asked.entry, made);
	registers = (struct tramp_registers){ .rax = result, .rdx = 10 };
	const uint64_t kept[2] = { floats[0], floats[1] };
	floats[0] = 8;
	floats[1] = 9;
	const char *got = made ? show(&asked.end, true) : wrong.part;
	registers = before;
	memcpy(floats, kept, sizeof(kept));
	ok(made && !strcmp(got, expected), "%s", contexts) || (diag("got %s, expected %s", got, expected), 0);
}

static void condition(const char *text, bool holds)
{
	bool made = compile("arg1", text);
	const char *got = made ? show(&asked.entry, true) : wrong.part;

	ok(made && holds == !strncmp(got, "arg1=", 5) && holds == !!strcmp(got, "out"), "%s %s", text,
		holds ? "holds" : "does not hold") ||
		(diag("got %s", got), 0);
}

static void refuses(const char *contexts, const char *expected)
{
	char line[512] = "it is taken";

	if (!compile(contexts, NULL))
		snprintf(line, sizeof(line), "%s '%s'%s%s", wrong.before, wrong.part, *wrong.after == ';' ? "" : " ",
			wrong.after);
	ok(!strncmp(line, expected, strlen(expected)), "%s", expected) || (diag("got %s", line), 0);
}

/* Its entry's code is of samples of this kind, with this interval. */
static void samples(const char *contexts, uint64_t interval, unsigned kind)
{
	struct values_facts facts = { 0 };
	bool made = compile(contexts, NULL) && values_check(asked.entry.code, asked.entry.size, &facts);

	ok(made && facts.interval == interval && facts.sample == kind, "%s", contexts) ||
		(diag("%llu, %u", (unsigned long long)facts.interval, facts.sample), 0);
}

static void test_samples(void)
{
	static const struct values_known library = { .has_malloc = true, .relays = true },
		other = { .has_malloc = true }, bare = { .relays = false };

	known = &other;
	samples("sample:1:malloc", 1, VALUES_SAMPLE_MALLOC);
	samples("arg1,ret,sample:512k:calloc", 512 << 10, VALUES_SAMPLE_CALLOC);
	samples("sample:3M:posix_memalign", 3 << 20, VALUES_SAMPLE_POSIX_MEMALIGN);
	samples("sample:1024G:realloc", 1ull << 40, VALUES_SAMPLE_REALLOC);
	samples("sample:9:new", 9, VALUES_SAMPLE_MALLOC);
	samples("sample:9:delete", 9, VALUES_SAMPLE_FREE);
	samples("arg1", 0, 0);
	known = &library;
	samples("sample:9:realloc", 9, VALUES_SAMPLE_REALLOC | VALUES_SAMPLE_RELAYS);
	known = &bare;
	samples("sample:9:realloc", 9, VALUES_SAMPLE_REALLOC);
	samples("sample:9:free", 9, VALUES_SAMPLE_FREE);
	samples("sample:9:new", 9, VALUES_SAMPLE_NOTHING);
	call.sample = 12345;
	entry("sample:9:malloc,arg1", "sample=12345 arg1=5");
	call.sample = 0;
	static const char *const bad[] = { "sample:0:malloc", "sample:1025G:malloc", "sample:99999999999999999999:free",
		"sample:-1:malloc", "sample:512K:malloc", "sample:512k", "sample:512k:mallocs", "sample:malloc",
		"sample:9:malloc:9" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuses(bad[i],
			"sample takes bytes and what the function does, as in sample:512k:malloc, not 'sample:");
	refuses("out:sample:9:malloc", "a sample is chosen when the call begins, not by 'sample:9:malloc'");
	refuses("sample:9:malloc,arg1,sample:9:malloc", "samples are asked for twice: 'sample:9:malloc'");
	uint8_t code[] = { VALUES_SAMPLE, VALUES_SAMPLE_FREE, 0, 0, 0, 0, 0, 1, 0, 0, VALUES_PUT, 8, VALUES_END };
	struct values_facts facts;
	ok(values_check(code, sizeof(code), &facts), "the largest interval is sound code");
	code[2] = 1;
	ok(!values_check(code, sizeof(code), &facts), "a larger one is not");
	code[7] = 0;
	code[1] = VALUES_SAMPLES | VALUES_SAMPLE_RELAYS;
	ok(!values_check(code, sizeof(code), &facts), "nor is another function");
	code[1] = VALUES_SAMPLE_RELAYS;
	ok(!values_check(code, sizeof(code), &facts), "or none");
	code[1] = VALUES_SAMPLE_FREE;
	code[2] = 0;
	ok(!values_check(code, sizeof(code), &facts), "or no interval");
}

static void refuses_if(const char *text, const char *expected)
{
	char line[512] = "it is taken";

	if (!compile("", text))
		snprintf(line, sizeof(line), "%s '%s' %s", wrong.before, wrong.part, wrong.after);
	ok(!strncmp(line, expected, strlen(expected)), "%s", expected) || (diag("got %s", line), 0);
}

/* What is compared as the type that it has, which is told, or known. */
static void typed_conditions(void)
{
	registers.rdi = 0xfffffffb; /* -5, as an int */
	condition("arg1 < 0", false);
	condition("int:arg1 < 0", true);
	condition("int:arg1 == -5", true);
	condition("uint32:arg1 == 0xfffffffb", true);
	condition("uint64:arg3 > 1", true);
	condition("uint8:+0(arg4) == 0x73", true);
	floats[0] = 0x4004000000000000; /* 2.5 */
	floats[1] = 0x40200000;		/* 2.5, as a float */
	condition("double:farg1 > 2.25", true);
	condition("farg1 > 2.25", true);
	condition("farg1 >= 2.75", false);
	condition("farg1 == 2.5e0", true);
	condition("double:farg1 <= 2.5", true);
	condition("double:farg1 >= 2.75", false);
	condition("float:farg2 == 2.5", true);
	condition("float:farg2 != 2.5", false);
	floats[0] = 0x7ff8000000000000; /* no number */
	condition("double:farg1 <= 1", false);
	condition("double:farg1 > 1", false);
	known = &types;
	floats[0] = 0x4004000000000000;
	condition("arg1 < 0", true);
	condition("count == -5", true);
	condition("size == 0xffffffff", true);
	condition("x > 2.25 && y < 3", true);
	condition("y > 2.5", false);
	condition("%rdi < 0", false);
	entry("arg1,arg4", ({
		static char line[80];
		snprintf(line, sizeof(line), "arg1=-5 arg4=%lld", (long long)registers.rcx);
		line;
	}));
	entry("string:s:text", "s=some bytes");
	registers.rax = 0xffffffff;
	ok(compile("arg2", "ret < 0") && !strcmp(show(&asked.end, true), ""), "a result is compared as it is known");
	registers.rax = result = 0xffffffff;
	end("ret", "ret=-1");
	end("bytes:ret:b:arg4", "b=");
	known = &nothing;
	registers.rdi = 5;
}

/* std::string, as libraries have it in memory. */
static void strings(void)
{
	static struct {
		const char *text;
		size_t size;
		char own[16];
	} standard = { .size = 5, .own = "short" };
	static struct {
		size_t size, room, references;
		char text[16];
	} counted = { 7, 15, 1, "counted" };
	static const char *old = counted.text;
	static struct {
		size_t room, size;
		const char *text;
	} long_one = { 0x41, 12, "a long string and more" };
	static char short_one[24] = "\x0a" "short and more";

	standard.text = standard.own;
	registers.rdi = (uint64_t)(uintptr_t)&standard;
	entry("stdstring:s:arg1", "s=short");
	entry("text:+8(arg1):s:+0(arg1)", "s=short");
	registers.rdi = (uint64_t)(uintptr_t)&old;
	entry("oldstring:s:arg1", "s=counted");
	registers.rdi = (uint64_t)(uintptr_t)&long_one;
	entry("cxxstring:s:arg1", "s=a long strin");
	registers.rdi = (uint64_t)(uintptr_t)short_one;
	entry("cxxstring:s:arg1", "s=short");
	registers.rdi = 0x123456789;
	entry("stdstring:s:arg1", "s=!2");
	entry("stdstring:s:&0(arg1),hex:h:&1(arg1),hex:i:&0(arg1)>>4", "s=!2 h=4886718346 i=305419896");
	entry("int:high:arg1>>32,int:higher:arg1>>36", "high=1 higher=0");
	registers.rdi = 5;
}

struct point {
	int32_t x, y;
	const char *name;
	struct point *next;
};

static void values(void)
{
	static struct point second = { -3, 4, "second", NULL }, first = { 1, -2, "first", &second };
	static char buffer[] = "some bytes";

	registers = (struct tramp_registers){ .rdi = 5, .rsi = (uint64_t)(uintptr_t)&first, .rdx = (uint64_t)-7,
		.rcx = (uint64_t)(uintptr_t)buffer, .r8 = 4, .r9 = 0x1ffffffff };
	floats[0] = 0x4004000000000000; /* 2.5 */
	entry("arg1", "arg1=5");
	entry("arg1,arg3", "arg1=5 arg3=-7");
	entry("arg7, arg9", "arg7=700 arg9=900");
	entry("int:n:arg6", "n=-1");
	entry("uint32:n:arg6,uint8:m:arg3", "n=4294967295 m=249");
	entry("int:x:+0(arg2),int:y:+4(arg2)", "x=1 y=-2");
	entry("int:x:+0(+16(arg2))", "x=-3");
	entry("string:s:+8(arg2),string:t:+8(+16(arg2))", "s=first t=second");
	entry("string:s:arg4", "s=some bytes");
	entry("bytes:4:b:arg4", "b=some");
	entry("bytes:arg5:b:arg4", "b=some");
	entry("long:v:variable,string:t:text_variable", "v=-12345 t=variable");
	entry("hex:r:%rdi,reg:rsi", ({
		static char line[80];
		snprintf(line, sizeof(line), "r=5 rsi=%lld", (long long)registers.rsi);
		line;
	}));
	entry("double:d:farg1", "d=4612811918334230528");
	entry("int:y:-4(arg10)", "y=11");
	entry("int:x:+0(arg1)", "x=0!2");
	entry("string:s:arg1", "s=!2");
	entry("calls", "calls=3");
	end("ret", "ret=-1");
	floats[0] = floats[1] = 7;
	end("fret,fret2,out:hex:f:farg1,out:hex:a:%rax,ret2", "fret=8 fret2=9 f=7 a=0 ret2=10");
	end("arg1,ret", "ret=-1");
	end("int:x:+0(arg2),string:s:ret", "s=!2");
	pair[1] = 33;
	end("out:int:x:+0(arg10)", "x=33");
	result = 4;
	end("bytes:ret:b:arg4", "b=some");
	ok(compile("regs", NULL) && asked.entry.values == 16, "regs are 16");
}

static void conditions(void)
{
	condition("arg1 == 5", true);
	condition("arg1 != 5", false);
	condition("arg1 < 5", false);
	condition("arg1 <= 5", true);
	condition("arg1 > 4", true);
	condition("arg1 > 5", false);
	condition("arg1 >= 6", false);
	condition("arg3 < 0", true);
	condition("arg3 > -8", true);
	condition("arg1 <= 0x7fffffffffffffff", true);
	condition("arg1 > 0x7fffffffffffffff", false);
	condition("arg1 == 5 && arg3 == -7", true);
	condition("arg1 == 5 && arg3 == 7", false);
	condition("+0(arg1) == 0", false);
	ok(compile("arg1", "ret < 0 && arg1 == 6") && !strcmp(show(&asked.entry, true), "out"),
		"of two, that on an argument is looked at when the call begins");
	registers.rax = (uint64_t)-1;
	ok(compile("arg1", "ret < 0") && !strcmp(show(&asked.end, true), ""), "one on the result when it ends");
	registers.rax = 1;
	is_str(show(&asked.end, true), "out", "and leaves it out then");
}

static void wrong_ones(void)
{
	refuses("", "it is taken");
	refuses("ar1", "no context is called 'ar1'; there are args, retval, argN");
	refuses("arg0", "no context is called 'arg0'");
	refuses("arg65", "no context is called 'arg65'");
	refuses("arg1,", "no context is called ''");
	refuses("integer:x:arg1", "no type is called 'integer'; there are int8");
	refuses("int:x", "a type needs a name and an expression, as in int:size:arg2, not 'x'");
	refuses("int::arg1", "a type needs a name and an expression, as in int:size:arg2, not ':arg1'");
	refuses("int:x:", "expected a value, not ''");
	refuses("int:x:arg1 arg2", "what is 'arg2' behind a value");
	refuses("int:x:+8", "expected an offset and brackets, as in +8(arg1), not '+8'");
	refuses("int:x:+8(arg1", "a bracket of '+8(arg1' is not closed");
	refuses("int:x:nowhere", "no symbol 'nowhere' is known");
	refuses("int:x:%eax", "no register is called 'eax'");
	refuses("reg:xmm0", "no register is called 'xmm0'");
	refuses("bytes:0:b:arg1", "bytes of size '0'; at most 768 are recorded");
	refuses("bytes:b:arg1", "no symbol 'b' is known");
	refuses("int:x:+1(+1(+1(+1(+1(+1(+1(+1(+1(+1(arg1))))))))))", "too many brackets in");
	refuses("ret,int:a:+0(arg1),regs,regs,regs", "more than '32' values of a call");
	refuses("int:x:arg1>>64", "expected how many bits, 0 to 63, not '>>64'");
	refuses_if("arg1", "a condition is as in arg1 > 100, not 'arg1'");
	refuses_if("arg1 > x", "a condition is as in arg1 > 100, not 'arg1 > x'");
	refuses_if("arg1 > 5 6", "what is '6' behind a condition");
	refuses_if("arg1 > 5 &&", "expected a value, not ''");
}

/* At a probe in the middle of a function, and at one that returns. */
static void probes(void)
{
	const struct values_known amid = { .look = look, .at = VALUES_AT_PROBE },
				  at_return = { .look = look, .at = VALUES_AT_RETURN };
	const struct tramp_registers before = registers;

	registers = (struct tramp_registers){ .rax = 5, .rbx = 6, .rdi = 7, .rdx = 9 };
	known = &amid;
	entry("arg1,reg:rbx", "arg1=7 rbx=6");
	ok(!asked.end.size && !asked.keeps, "nothing of a probe is left for an end");
	ok(compile("errno", NULL) && !asked.end.size, "errno is found at once");
	entry("long:x:%rax", "x=5");
	refuses("ret", "this probe has no context 'ret'; there are arg1 to arg6");
	refuses("fret2", "this probe has no context 'fret2'");
	refuses("arg7", "this probe has no context 'arg7'");
	refuses("out:arg1", "this is for calls of functions, not for a probe: 'out:arg1'");
	refuses("sample:1k:malloc", "this is for calls of functions, not for a probe: 'sample:1k:malloc'");
	known = &at_return;
	entry("ret,ret2", "ret=5 ret2=9");
	entry("int:r:ret", "r=5");
	ok(!asked.end.size && !asked.keeps, "what comes back is there where it returns");
	condition("ret == 5", true);
	condition("int:ret < 5", false);
	registers = before;
	known = &nothing;
}

/* Arguments of a probe of the program's own, by what its note says. */
static void operand(const char *arguments, const char *contexts, const char *expected)
{
	static struct values_operand operands[OPERANDS_MOST];
	struct values_known usdt = { .look = look, .at = VALUES_AT_USDT, .operand = operands };
	const struct tramp_registers before = registers;

	registers = (struct tramp_registers){ .rax = 0xfffffffffffffe80, .rbx = (uint64_t)(uintptr_t)pair, .rcx = 1,
		.rdi = 0x8899aabbccddeeff, .r9 = 300, .rsp = (uint64_t)(uintptr_t)stack };
	usdt.operands = operands_read(arguments, look, NULL, operands);
	known = &usdt;
	bool made = compile(contexts, NULL);
	const char *got = made ? show(&asked.entry, true) : wrong.part;
	ok(made && !strcmp(got, expected), "%s", arguments) || (diag("got %s, expected %s", got, expected), 0);
	known = &nothing;
	registers = before;
}

static void operands(void)
{
	operand("8@%rdi -8@%rdi", "arg1,arg2", "arg1=-8603657889541918977 arg2=-8603657889541918977");
	operand("4@%edi -4@%edi 2@%di 1@%dil", "arg1,arg2,arg3,arg4",
		"arg1=3437096703 arg2=-857870593 arg3=61183 arg4=255");
	operand("-1@%al -1@%ah 1@%ah -2@%ax", "arg1,arg2,arg3,arg4", "arg1=-128 arg2=-2 arg3=254 arg4=-384");
	operand("4@%r9d 2@%r9w 1@%r9b", "arg1,arg2,arg3", "arg1=300 arg2=300 arg3=44");
	operand("-4@$-7 8@$0x10 1@$0377", "arg1,arg2,arg3", "arg1=-7 arg2=16 arg3=255");
	operand("-4@(%rbx) -4@4(%rbx) -4@(%rbx,%rcx,4)", "arg1,arg2,arg3", "arg1=11 arg2=33 arg3=33");
	operand("-4@-4(%rbx,%rcx,8) 8@0x8(%rsp) -4@(%rbx, %rcx, 4)", "arg1,arg2,arg3", "arg1=33 arg2=800 arg3=33");
	operand("-8@variable(%rip) -2@variable+0(%rip) -8@variable", "arg1,arg2,arg3",
		"arg1=-12345 arg2=-12345 arg3=-12345");
	operand("1@text_variable+2(%rip) 1@2+text_variable(%rip)", "arg1,arg2", "arg1=114 arg2=114");
	operand("8@$text_variable", "string:t:arg1", "t=variable");
	operand("%rcx $5", "arg1,arg2", "arg1=1 arg2=5");
	operand("4@%ecx", "int:x:arg1,int:y:+4(%rbx)", "x=1 y=33");
	operand("", "calls", "calls=3");
	struct values_operand to[OPERANDS_MOST];
	is_int(operands_read("8@%st 8@12(%rip) 3@%rax 8@nowhere(%rip) 8@%rax,1 8@(%rbx,%rcx,3) 8@", look, NULL, to), 7,
		"of all arguments that are there");
	for (int i = 0; i < 7; i++)
		is_int(to[i].size, 0, "number %d can't be had", i + 1);
	const struct values_known usdt = { .at = VALUES_AT_USDT, .operand = to, .operands = 7 };
	known = &usdt;
	refuses("arg1", "this probe has no context 'arg1'; there are args, its own arg1");
	refuses("arg8", "this probe has no context 'arg8'");
	refuses("ret", "this probe has no context 'ret'");
	known = &nothing;
}

/* Texts made of what expressions are made of: what is taken is code that the module takes. */
static void random_texts(void)
{
	static const char *const piece[] = { "arg1", "arg", "7", ",", ":", "int", "string", "bytes", "x", "+", "-", "8",
		"(", ")", "%", "rdi", "ret", "errno", "&&", "==", ">", " ", "0x10", "regs", "reg", "farg2", ">>",
		"double", "cxxstring", "count",
		"variable" };
	const int pieces = sizeof(piece) / sizeof(*piece);
	long taken = 0, bad = 0;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		char line[256] = "";
		struct values_facts facts;
		for (int k = rand() % 12; k >= 0; k--)
			strcat(line, piece[rand() % pieces]);
		bool made = rand() % 4 ? compile(line, NULL) : compile("int:x:arg1", line);
		known = i % 2 ? &types : &nothing;
		taken += made;
		bad += made && (!values_check(asked.entry.code, asked.entry.size, &facts) ||
				       facts.values != asked.entry.values ||
				       (asked.end.size && !values_check(asked.end.code, asked.end.size, &facts)));
	}
	is_int(bad, 0, "what is taken of 200000 random texts is sound code");
	ok(taken > 1000, "%ld were taken", taken);
}

int main(void)
{
	identity_init(NULL);
	stack[3] = (uint64_t)(uintptr_t)&pair[1];
	call = (struct values_call){ .registers = &registers, .floats = floats,
		.arguments = (uint64_t)(uintptr_t)stack, .base = 0x1000, .has_base = true, .calls = 3 };
	values();
	conditions();
	typed_conditions();
	strings();
	wrong_ones();
	test_samples();
	probes();
	operands();
	random_texts();
	return done_testing();
}
