/* SPDX-License-Identifier: MIT */
/*
 * Demangled names of C++ and Rust as a row of words, signs and brackets. Such a text does not tell in all cases which
 * of its < and > are brackets: here they are if they stand behind a name, or an operator's name, and close what is open
 * innermost. Within other brackets a > that closes nothing is an operator. Where brackets don't match, or are nested
 * deeper than CXX_TEXT_DEPTH, that is said, and who asked leaves the name as it is.
 *
 * A text is read once, by steps that look at a few bytes behind their piece. Pure functions.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_CXX_TEXT_H
#define XAUDIT_TOOL_SHOW_TERM_CXX_TEXT_H

#include <stddef.h>

#define CXX_TEXT_DEPTH 128

enum cxx_text_what {
	CXX_TEXT_END,
	CXX_TEXT_WRONG, /* brackets that don't match, or too many: what came before tells nothing either */
	CXX_TEXT_WORD, /* an identifier, a number; "(anonymous namespace)", too */
	CXX_TEXT_OPERATOR, /* "operator<<", "operator()"; with a blank behind it, "operator" is a word */
	CXX_TEXT_TAG, /* "[abi:cxx11]" */
	CXX_TEXT_OPEN, /* one of <([{ */
	CXX_TEXT_CLOSE,
	CXX_TEXT_COLONS, /* "::" */
	CXX_TEXT_SIGN /* any other byte */
};

struct cxx_text {
	const char *at, *end; /* what has not been read yet */
	/* The piece that was read last: */
	const char *piece;
	size_t length;
	enum cxx_text_what what, before; /* before: what the piece before it was */

	unsigned depth; /* brackets that are open */
	char open[CXX_TEXT_DEPTH];
};

/* Sets what text->at and text->end are; the rest is 0 before the first step. Returns text->what. */
enum cxx_text_what cxx_text_next(struct cxx_text *text);

#endif
