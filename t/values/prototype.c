/* SPDX-License-Identifier: MIT */
/*
 * Prototypes: what contexts the declarations of functions become, and what is said of wrong ones. `prototype.u FILE`
 * prints the contexts of each function of that file.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <stdlib.h>

#include "tool/values/contexts.h"
#include "tool/values/expression.h"
#include "tool/values/library.h"
#include "tool/values/prototype.h"

static const char types[] = "typedef unsigned long size_t; typedef long ssize_t; typedef struct file FILE;\n"
			    "[[flags]] enum flags { A = 1, B = 0x10, C }; enum whence { SET, CUR, END };\n";

/* All contexts of a function, in one text; NULL: none. To be freed. */
static char *contexts(const struct prototype *of)
{
	const struct contexts_wish wish = { .arguments = true, .result = true, .contents = true };
	struct contexts_list list = { 0 };
	char *text = NULL;

	contexts_of(&list, of, &wish);
	for (size_t i = 0; i < list.items; i++) {
		char *longer = NULL;
		if (asprintf(&longer, "%s%s%s", text ? text : "", text ? "," : "", list.item[i].text) < 0)
			abort();
		free(text);
		text = longer;
	}
	contexts_free(&list);
	return text;
}

/* The contexts of the last function of a text, as those of arguments and what comes back. */
static void is(const char *text, const char *function, const char *expected)
{
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;
	bool taken = prototypes_read(all, types, &wrong) && prototypes_read(all, text, &wrong);
	const struct prototype *found = taken ? prototypes_find(all, function) : NULL;
	char *got = found ? contexts(found) : NULL;

	is_str(got ? got : taken ? "" : wrong.part, expected, "%s", text);
	free(got);
	prototypes_free(all);
}

static void refuses(const char *text, unsigned line, const char *expected)
{
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong = { 0 };
	char said[256] = "it is taken";

	if (!prototypes_read(all, text, &wrong))
		snprintf(said, sizeof(said), "%u: %s '%s'%s", wrong.line, wrong.before, wrong.part, wrong.after);
	char wanted[256];
	snprintf(wanted, sizeof(wanted), "%u: %s", line, expected);
	ok(!strncmp(said, wanted, strlen(wanted)), "%s", expected) || (diag("got %s", said), 0);
	prototypes_free(all);
}

static void kinds(void)
{
	is("int f(int a, unsigned b, long c, unsigned char d, short e, unsigned long long g, _Bool h);", "f",
		"int32:a:arg1,uint32:b:arg2,int64:c:arg3,uint8:d:arg4,int16:e:arg5,uint64:g:arg6,uint8:h:arg7,"
		"int32:ret:ret");
	is("double f(double x, int n, float y);", "f", "double:x:farg1,int32:n:arg1,float:y:farg2,double:ret:fret");
	is("void f(void);", "f", "");
	is("void f(void *p);", "f", "ptr:p:arg1");
	is("const char *f(const char *s, char *t, const unsigned char *u, char *const *v);", "f",
		"string:s:arg1,ptr:t:arg2,ptr:u:arg3,ptr:v:arg4,string:ret:ret");
	is("[[text]] char *f([[address]] const char *s, [[text]] char *t);", "f",
		"ptr:s:arg1,string:t:arg2,string:ret:ret");
	is("FILE *f(struct x *x, enum whence whence, int (*compare)(const void *, const void *), int fds[2]);", "f",
		"ptr:x:arg1,uint32:whence:arg2,ptr:compare:arg3,ptr:fds:arg4,ptr:ret:ret");
	is("int f(double a, double b, double c, double d, double e, double g, double h, double i, double j, int k);",
		"f",
		"double:a:farg1,double:b:farg2,double:c:farg3,double:d:farg4,double:e:farg5,double:g:farg6,"
		"double:h:farg7,double:i:farg8,double:j:arg7,int32:k:arg1,int32:ret:ret");
	is("[[fails(-1)]] ssize_t read([[fd]] int fd, [[out, bytes(ret)]] void *buffer, size_t size);", "read",
		"int32:fd:arg1,out:bytes:ret:buffer:arg2,uint64:size:arg3,int64:ret:ret,errno");
	is("int f([[bytes(n)]] const void *p, size_t n, [[bytes(4)]] const char *q);", "f",
		"bytes:arg2:p:arg1,uint64:n:arg2,bytes:4:q:arg3,int32:ret:ret");
	is("int f([[out]] int *n, [[out, hex]] unsigned long *m, [[out]] void **p, [[out, text]] char *t);", "f",
		"out:int32:n:+0(arg1),out:hex:m:+0(arg2),out:ptr:p:+0(arg3),out:string:t:arg4,int32:ret:ret");
	is("void f([[secret]] const char *who, [[secret, bytes(8)]] const void *key);", "f",
		"ptr:who:arg1,ptr:key:arg2");
	is("void f(const char *Password, int pin, int keyed, const char *user_token, int api_key, int pinned);", "f",
		"ptr:Password:arg1,int32:keyed:arg3,ptr:user_token:arg4,int32:pinned:arg6");
	is("struct s { char a; int b; [[out]] short c; union { char d; long e; } u; void *p; }; "
	   "void f(struct s *s, int n, [[array(n)]] const struct s *all, [[address]] struct s *at, "
	   "struct s **to);", "f",
		"array:32*1:s:arg1,out:array:32*1?ret:s:arg1,int32:n:arg2,array:32*arg2:all:arg3,"
		"out:array:32*arg2?ret:all:arg3,ptr:at:arg4,ptr:to:arg5");
	is("[[packed]] struct s { char a; long b; }; "
	   "int f([[out, array(ret)]] struct s *s, [[array(4)]] struct s *t);", "f",
		"out:array:9*ret:s:arg1,array:9*4:t:arg2,int32:ret:ret");
	is("struct s { int id; int pin; }; struct t { char *password; }; void f(struct s *s, struct t *t);", "f",
		"ptr:s:arg1,array:8*1:t:arg2");
	is("int f(int a); /* another */ int f(int b); // the end", "f", "int32:b:arg1,int32:ret:ret");
	is("long unsigned int f(long int unsigned a);", "f", "uint64:a:arg1,uint64:ret:ret");
}

/* Those behind the dots: when they are passed, and where. */
static void optional(const char *parameters, const char *expected)
{
	static const struct contexts_wish wish = { .arguments = true };
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;
	struct contexts_list list = { 0 };
	char text[256], got[256] = "";
	size_t n = 0;

	snprintf(text, sizeof(text), "int f(%s);", parameters);
	if (prototypes_read(all, types, &wrong) && prototypes_read(all, text, &wrong))
		contexts_of(&list, prototypes_find(all, "f"), &wish);
	for (size_t i = 0; i < list.items; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s %s %u%s\n", list.item[i].text,
			list.item[i].when ? list.item[i].when : "-", list.item[i].place,
			list.item[i].marks & VALUES_MARK_MORE ? " more" : "");
	is_str(got, expected, "%s", parameters);
	contexts_free(&list);
	prototypes_free(all);
}

static void optionals(void)
{
	optional("int a, ...", "int32:a:arg1 - 0 more\n");
	optional("[[names(flags)]] int a, ..., [[if(a, B, 0x40)]] long b, [[if(a, C)]] int c",
		"int32:a:arg1 - 0\nint64:b:arg2 0,16/16,64/64 1\nint32:c:arg3 0,17/17 2\n");
	optional("double x, [[names(whence)]] int a, ..., [[if(a, CUR)]] int b, [[unless(a, CUR, -1)]] const char *b",
		"double:x:farg1 - 0\nint32:a:arg1 - 1\nint32:b:arg2 1,1/4294967295 2\n"
		"string:b:arg2 !1,1/4294967295,4294967295/4294967295 2\n");
	refuses("int f(int a, ..., int b);", 1, "what is behind the dots needs if(NAME, VALUE), of what");
	refuses("int f(int a, ..., [[if(b, 1)]] int b);", 1, "what is behind the dots needs if(NAME, VALUE)");
	refuses("int f(int a, ..., [[if(a, D)]] int b);", 1, "a value of a condition is not known before ')'");
	refuses("void f([[array(3)]] int *p);", 1, "an array is of structures whose members are told before, not ')'");
	refuses("struct s { };", 1, "a structure has no members before ';'");
	refuses("struct s { long double d; };", 1, "a structure, or long double, is passed by value before ';'");
	refuses("struct s { union { int a; } };", 1, "expected the name of a union, not '}'");
	refuses("struct s { int a };", 1, "expected a semicolon, not '}'");
	refuses("int f(int a, ..., [[if(a)]] int b);", 1, "expected a comma and a value, not ')'");
}

static void names(void)
{
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;

	ok(prototypes_read(all, types, &wrong) &&
			prototypes_read(all, "[[fails(-1)]] int f([[names(flags)]] int a, [[octal, fd]] int b, ...);",
				&wrong), "a function with names is read");
	const struct prototype *f = prototypes_find(all, "f");
	ok(f && f->more && f->has_fails && f->fails == -1, "it fails by -1, and takes more");
	ok(f && f->parameter[0].names && f->parameter[0].names->are_flags && f->parameter[0].names->count == 3,
		"flags have names");
	ok(f && f->parameter[0].names && f->parameter[0].names->list[2].value == 0x11 &&
			!strcmp(f->parameter[0].names->list[2].word, "C"), "one without a number is the next");
	ok(f && f->parameter[1].marks == (PROTOTYPE_OCTAL | PROTOTYPE_FD), "a descriptor, octal");
	ok(!prototypes_find(all, "g"), "another is not known");
	prototypes_free(all);
}

/* Whose function it is, and what other names it may have there. */
static void libraries(void)
{
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;

	ok(prototypes_read(all,
			"int a(int x); [[library(libc, libm)]]; int open(int x); int b64(int x); int b(long y);"
			"[[library(any)]]; int free(int x);",
			&wrong), "functions of libraries are read");
	ok(library_prototype(all, "a", "libx.so.1") && library_prototype(all, "free", "libx.so.1"), "those of any");
	ok(library_prototype(all, "open", "libc.so.6") && library_prototype(all, "open", "libm-2.31.so") &&
			!library_prototype(all, "open", "libcx.so") && !library_prototype(all, "open", "libx.so"),
		"others only of these");
	ok(library_prototype(all, "open64", "libc.so.6") == prototypes_find(all, "open") &&
			library_prototype(all, "__open64", "libc.so.6") == prototypes_find(all, "open") &&
			library_prototype(all, "__b64", "libc.so.6") == prototypes_find(all, "b64"),
		"other names of them");
	ok(!library_prototype(all, "open_", "libc.so.6") && !library_prototype(all, "64", "libc.so.6") &&
			!library_prototype(all, "_", "libc.so.6") && !library_prototype(all, "__open64", "libx.so"),
		"and none that are not");
	prototypes_free(all);
}

static void wrong_ones(void)
{
	refuses("int f(int a)", 1, "expected a semicolon, not ''");
	refuses("int\nf(\nnothing a);", 3, "no type is called 'nothing'");
	refuses("int f(int);", 1, "a parameter has no name before ')'");
	refuses("int f(struct x x);", 1, "a structure, or long double, is passed by value before ')'");
	refuses("struct x f(void);", 1, "a structure, or long double, is passed by value before '('");
	refuses("int f(long double x);", 1, "a structure, or long double, is passed by value before ')'");
	refuses("int f([[outer]] int *a);", 1, "no attribute is called 'outer'; there are out");
	refuses("int f([[out]] struct x *a);", 1, "what is written there is not known before ')'");
	refuses("int f([[names(x)]] int a);", 1, "no enum of that name is before ')'");
	refuses("[[fails(x)]] int f(int a);", 1, "expected a number, not 'x'");
	refuses("enum e { A = B };", 1, "expected a number, not 'B'");
	refuses("/* a\n comment */ int f(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, "
		"int l, int m, int n, int o, int p, int q);", 2, "a function has more than 16 parameters: 'int'");
	refuses("int f(int (*g)(int);", 1, "expected a comma or a bracket, not ';'");
}

/* Texts of pieces: reading them ends, whatever they are. */
static void random_texts(void)
{
	static const char *const piece[] = { "int", "char", "*", "(", ")", "[[", "]]", "out", "bytes", "names", "(1)",
		",", ";", "f", "a", "enum", "{", "}", "=", "3", "typedef", "struct", "const", "...", "void", "[", "]",
		"/*", "*/", "//", "\n", " ", "-", "double", "fails" };
	long taken = 0;

	srand(1);
	for (int i = 0; i < 100000; i++) {
		char line[256] = "";
		struct prototypes *all = prototypes_new();
		struct prototypes_wrong wrong;
		for (int k = rand() % 20; k >= 0; k--) {
			strcat(line, piece[(size_t)rand() % (sizeof(piece) / sizeof(*piece))]);
			strcat(line, " ");
		}
		taken += prototypes_read(all, line, &wrong);
		prototypes_free(all);
	}
	ok(taken > 100, "%ld of 100000 random texts were taken", taken);
}

/* Prints what becomes of a file; returns main's status. */
static int print(const char *path)
{
	struct prototypes *all = prototypes_new();
	struct prototypes_wrong wrong;
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	const struct prototype *f;
	int status = 0;

	if (!file || !fread(text, 1, sizeof(text) - 1, file))
		return 1;
	fclose(file);
	if (!prototypes_read(all, text, &wrong)) {
		printf("%s:%u: %s '%s' %s\n", path, wrong.line, wrong.before, wrong.part, wrong.after);
		return 1;
	}
	for (size_t i = 0; (f = prototypes_at(all, i)); i++) {
		struct values_asked asked = { .keeps = 0 };
		struct values_wrong refused;
		char *text = contexts(f);
		printf("%s %s\n", f->name, text ? text : "");
		if (text && (!values_ask(&asked, text, NULL, &refused) || !values_complete(&asked, &refused))) {
			printf("%s is refused: %s '%s' %s\n", f->name, refused.before, refused.part, refused.after);
			status = 1;
		}
		free(text);
	}
	prototypes_free(all);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return print(argv[1]);
	kinds();
	optionals();
	names();
	libraries();
	wrong_ones();
	random_texts();
	return done_testing();
}
