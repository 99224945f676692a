/* SPDX-License-Identifier: MIT */
/*
 * Why a function's site is not traced: numbers of struct trace_site_count (format/trace.h), with the words that `list`,
 * `info`, `ctl` and `record` have for them. Numbers are part of the format: they stay, new ones come last.
 */
#ifndef XAUDIT_FORMAT_REASONS_H
#define XAUDIT_FORMAT_REASONS_H

/* X(number, NAME, "why a function's site is not traced, as a phrase") */
#define TRACE_REASONS(X)                                                                      \
	X(0, TRACED, "traced")                                                                \
	X(1, NOT_SELECTED, "not selected by the rules")                                       \
	X(2, NO_SECTIONS, "the file has no section headers")                                  \
	X(3, FILE_CHANGED, "the file changed since it was mapped")                            \
	X(4, UNREADABLE, "the file can't be read")                                            \
	X(5, DAMAGED, "the file's tables contradict each other")                              \
	X(6, MAP_VERSION, "the sled map is not version 2")                                    \
	X(7, SLED_BYTES, "the bytes at the site are not what the compiler writes")            \
	X(8, CONDITIONAL_TAIL, "a conditional tail call shares the sled (clang before 17)")   \
	X(9, EVENT_SLED, "has only custom or typed event sleds, and none that can be used")   \
	X(10, SHORT, "fewer than 5 bytes of NOPs")                                            \
	X(11, TEXTREL, "the object has text relocations")                                     \
	X(12, NO_ROOM, "no free address range within 2 GiB for the stubs")                    \
	X(13, PROTECTION, "the system refuses to change the code's protection")               \
	X(14, ENTRY_ONLY, "traced at the entry only: the return must not be intercepted")     \
	X(15, SLED_TRACED, "a binding to a function that is traced by its own sled")          \
	X(16, IDS_USED_UP, "all function ids are in use")                                     \
	X(17, BLIND_UNWINDER, "entry only: code in the process would not see our frames, or moves stacks") \
	X(18, LOADER, "belongs to the dynamic loader")                                        \
	X(19, NO_SITES, "no compile-time sites in the file")                                  \
	X(20, DISABLED, "switched off")                                                       \
	X(21, ONE_BYTE_NOPS, "NOPs of one byte, not joined at load: only `xaudit ctl` can switch it on") \
	X(22, NOT_PREPARED, "bound before it was selected: its callers go past xaudit")        \
	X(23, STRADDLES, "its first two bytes cross an 8-byte boundary: only `xaudit ctl` can switch it on") \
	/* The one that counts sleds, not functions. */                                       \
	X(24, EVENT_LEFT, "event sleds left alone: not the bytes that compilers should write (clang before 17)") \
	/* Of functions again. */                                                             \
	X(25, NO_ENTRY_SLED, "has exit sleds without an entry sled, as beside patchable_function_entry") \
	/* Of kinds that an index tells of; these as in INDEX_REASONS (format/index.h), in that order. */ \
	X(26, INDEX_LOADER, "the dynamic linker itself")                                      \
	X(27, INDEX_RESOLVER, "an IFUNC resolver, or called by one: it runs before its object is relocated") \
	X(28, INDEX_SIGNAL_FRAME, "the kernel's return from a signal")                        \
	X(29, INDEX_START, "nobody calls it: there is no return address where functions have theirs") \
	X(30, INDEX_STACK, "it goes to another stack")                                        \
	X(31, INDEX_UNDECODABLE, "bytes that are no instructions we know")                    \
	X(32, INDEX_LOOP, "it jumps to its own beginning, which would count as a call")       \
	X(33, INDEX_BRANCH, "a branch or a pointer, or data that looks like one, leads into the bytes displaced") \
	X(34, INDEX_OVERLAP, "another function begins in the bytes that would be displaced")  \
	X(35, INDEX_SHORT, "too short, and no room before it")                                \
	X(36, INDEX_CALL, "a call among the first instructions that is not the last of those displaced") \
	X(37, INDEX_INSTRUCTION, "an instruction at its beginning that can't run elsewhere")  \
	X(38, INDEX_TARGET, "an instruction at its beginning reaches too far")                \
	X(39, NO_INDEX, "no index of the file: `xaudit index FILE` makes one")                \
	X(40, INDEX_REFUSED, "its index is somebody else's, or others may write to it")       \
	X(41, INDEX_DAMAGED, "its index is damaged, or another file's")                       \
	X(42, INDEX_VERSION, "its index was made by another version: `xaudit index FILE` makes it again") \
	X(43, SHADOW_STACK, "a call would be displaced, and the processor checks returns (shadow stack)") \
	X(44, OTHER_BYTES, "the bytes in memory are not those that the index has")            \
	X(45, OTHER_SITE, "another kind's site lies in the bytes that would be displaced")    \
	X(46, NOT_DISPLACED, "not displaced at load: only `xaudit ctl` can switch it on")     \
	/* The next of INDEX_REASONS. */                                                      \
	X(47, INDEX_RUNTIME, "its language's runtime copies or reads it, or has it run on stacks with little room") \
	X(48, INDEX_JUDGED, "its language's runtime judges faults by the instruction pointer, which would be another") \
	X(49, ADDRESS_TAKEN, "called by an address that code or data holds: `-k entry` sees that") \
	X(50, PROBE, "a probe stands in the bytes that are displaced: take it away first, and set it again then")

enum trace_reason {
#define X(number, NAME, phrase) TRACE_REASON_##NAME = number,
	TRACE_REASONS(X)
#undef X
	TRACE_REASON_COUNT
};

#endif
