/* SPDX-License-Identifier: MIT */
/* Parts of programs: see t/api/api.t, which chooses one. */
#include <stdio.h>
#include <string.h>

#include <xaudit.h>

#if defined(PART_COUNTED)
int api_counted(int n);
int api_counted(int n)
{
	return n + 1;
}
#elif defined(PART_PLUGIN)
#ifdef __cplusplus
extern "C"
#endif
int plugin_event(const char *text);
int plugin_event(const char *text)
{
	return xaudit_event(text, strlen(text));
}
#elif defined(PART_OTHER)
int other(void);
int other(void)
{
	return XAUDIT_EVENT("from another file", 17);
}
#elif defined(PART_NEWER)
#include "runtime/api/table.h" /* API_ENTRIES */
/*
 * Notes of other ages, made by hand: a table that has more entries than the module knows, one of another version, one
 * that says it lies in read-only memory, and one far outside of the object.
 */
#define NOTE(table, version, entries)                                                                          \
	__asm__(".pushsection .note.xaudit,\"a\",@note\n"                                                      \
		".balign 4\n.long 7, 16, 1\n.asciz \"xaudit\"\n.balign 4\n.quad " table " - .\n.long " version \
		", " entries "\n.popsection\n")
#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)
__attribute__((used, visibility("hidden"))) void *newer[API_ENTRIES + 2], *other[API_ENTRIES];
__attribute__((used, visibility("hidden"))) void *const fixed[512] = { 0 };
NOTE("newer", "1", TEXT(API_ENTRIES) " + 2");
NOTE("other", "2", TEXT(API_ENTRIES));
NOTE("fixed", "1", TEXT(API_ENTRIES));
NOTE("newer + 0x10000000", "1", TEXT(API_ENTRIES));
int main(void)
{
	int missing = 0, behind = 0, others = 0;

	for (int i = 0; i < API_ENTRIES; i++) {
		missing += newer[i] == NULL;
		others += other[i] != NULL || ((void *const volatile *)fixed)[i] != NULL;
	}
	behind = (newer[API_ENTRIES] != NULL) + (newer[API_ENTRIES + 1] != NULL);
	printf("missing %d behind %d others %d\n", missing, behind, others);
	return 0;
}
#else
#ifdef __cplusplus
int other(void);
#else
extern int other(void);
#endif
static int evaluated;
static const char *text(void)
{
	evaluated++;
	return "by the macro";
}
int main(void)
{
	int first = XAUDIT_EVENT(text(), 12), second = other();

	printf("macro %d %d evaluated %d\n", first, second, evaluated);
	return 0;
}
#endif
