/* SPDX-License-Identifier: MIT */
/* Files of ltrace: what prototypes they become. `ltrace.u FILE` prints those of that file; status 0: all are taken. */
#include "t/lib/tap.h"

#include <stdlib.h>

#include "tool/values/ltrace.h"
#include "tool/values/prototype.h"

static void is(const char *text, const char *expected)
{
	char *got = ltrace_prototypes(text);
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong = { 0 };

	is_str(got, expected, "%s", text);
	ok(prototypes_read(all, got, &wrong), "is taken") ||
		(diag("%s '%s' %s", wrong.before, wrong.part, wrong.after), 0);
	prototypes_free(all);
	free(got);
}

/* Whether prototypes are taken, all of a file's. */
static int print(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;

	if (!file || !fread(text, 1, sizeof(text) - 1, file))
		return 1;
	fclose(file);
	char *got = ltrace_prototypes(text);
	fputs(got, stdout);
	bool taken = prototypes_read(all, got, &wrong);
	if (!taken)
		printf("%u: %s '%s' %s\n", wrong.line, wrong.before, wrong.part, wrong.after);
	prototypes_free(all);
	free(got);
	return !taken;
}

static void random_texts(void)
{
	static const char *const piece[] = { "int", "string", "*", "(", ")", "+", "[", "]", ",", ";", "f", "enum", "=",
		"3", "typedef", "struct", "array", "...", "void", "hex", "oct", "file", "format", "\n", " ", "retval",
		"arg2", "double" };
	long some = 0;

	srand(1);
	for (int i = 0; i < 100000; i++) {
		char line[256] = "";
		for (int k = rand() % 16; k >= 0; k--) {
			strcat(line, piece[(size_t)rand() % (sizeof(piece) / sizeof(*piece))]);
			strcat(line, " ");
		}
		char *got = ltrace_prototypes(line);
		some += *got != '\0';
		free(got);
	}
	ok(some > 20, "%ld of 100000 random texts are prototypes", some);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return print(argv[1]);
	is("int close(int);\n", "int close(int arg1);\n");
	is("void f();\nvoid g(void);", "void f(void);\nvoid g(void);\n");
	is("; remark\n\n addr malloc(ulong); ; remark\n", "void * malloc(unsigned long arg1);\n");
	is("int open(string,int,octal);		; WARNING: 3rd argument may not be there",
		"int open([[text]] char * arg1, int arg2, [[octal]] int arg3);\n");
	is("string fgets(+string, int, file);",
		"[[text]] char * fgets([[out]] [[text]] char * arg1, int arg2, void * arg3);\n");
	is("int read(int, +string[retval], ulong);",
		"int read(int arg1, [[out]] [[bytes(ret)]] char * arg2, unsigned long arg3);\n");
	is("int write(int, string[arg3], ulong);",
		"int write(int arg1, [[bytes(arg3)]] char * arg2, unsigned long arg3);\n");
	is("int f(string(array(char, arg2)*), string(char*), string[zero(5)]);",
		"int f([[text]] char * arg1, [[text]] char * arg2, [[text]] char * arg3);\n");
	is("int printf(format);\nint sprintf(+string,format,...);",
		"int printf([[text]] char * arg1, ...);\n");
	is("int fprintf(file, format);", "int fprintf(void * arg1, [[text]] char * arg2, ...);\n");
	is("int vf(int, ...);", "int vf(int arg1, ...);\n");
	is("double frexp(double, +int*);", "double frexp(double arg1, [[out]] int * arg2);\n");
	is("typedef pid = int;\ntypedef flags = hex(ulong);\npid f(flags, flags*, +flags*);",
		"int f([[hex]] unsigned long arg1, void * arg2, [[out]] [[hex]] unsigned long * arg3);\n");
	is("typedef t = struct(int,hex(long));\nint f(t*);\nint g(t);\nt h(int);", "int f(void * arg1);\n");
	is("typedef s = enum(SIGHUP=1,SIGINT);\nint kill(int, s);\nint e(enum[short](A,B));",
		"int kill(int arg1, int arg2);\nint e(short arg1);\n");
	is("int f(hide(string), oct(uint), bool(int), bitvec(uint)*);",
		"int f([[text]] char * arg1, [[octal]] unsigned int arg2, int arg3, void * arg4);\n");
	is("int f(unknown);\nint g(int;\nint h int;\nnonsense\nint last(int);", "int last(int arg1);\n");
	random_texts();
	return done_testing();
}
