/* SPDX-License-Identifier: MIT */
#include "tool/show/term/cxx_text.h"

#include <stdbool.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       c == '~' || (unsigned char)c >= 0x80;
}

static bool begins(const struct cxx_text *text, const char *at, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(text->end - at) >= length && !memcmp(at, word, length);
}

static enum cxx_text_what piece(struct cxx_text *text, enum cxx_text_what what, size_t length)
{
	text->piece = text->at;
	text->length = length;
	text->at += length;
	return text->what = what;
}

/* The sign of an operator; 0: there is none. */
static size_t sign_length(const struct cxx_text *text, const char *at)
{
	/* The longer ones first. */
	static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]",
		"==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<", ">", "+", "-",
		"*", "/", "%", "&", "|", "^", "!", "=", "," };

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (begins(text, at, signs[i]))
			return strlen(signs[i]);
	return 0;
}

static enum cxx_text_what read_word(struct cxx_text *text)
{
	const char *at = text->at;

	while (at < text->end && is_letter(*at))
		at++;
	size_t length = (size_t)(at - text->at);
	size_t sign = length == 8 && begins(text, text->at, "operator") ? sign_length(text, at) : 0;
	return piece(text, sign ? CXX_TEXT_OPERATOR : CXX_TEXT_WORD, length + sign);
}

/* A tag of the ABI; 0: it is none. */
static size_t tag_length(const struct cxx_text *text)
{
	const char *at = text->at + 5;

	if (!begins(text, text->at, "[abi:"))
		return 0;
	while (at < text->end && is_letter(*at))
		at++;
	return at < text->end && *at == ']' ? (size_t)(at + 1 - text->at) : 0;
}

/* Does a < open arguments of a template or, of Rust, a type? It is not read yet. */
static bool opens(const struct cxx_text *text)
{
	switch (text->what) {
	case CXX_TEXT_END: /* the beginning */
	case CXX_TEXT_WORD:
	case CXX_TEXT_OPERATOR:
	case CXX_TEXT_TAG:
	case CXX_TEXT_COLONS: /* Rust: "sum::<u8>" */
		return true;
	case CXX_TEXT_OPEN: /* Rust: "<<A as B>::C as D>" */
		return *text->piece == '<';
	case CXX_TEXT_SIGN: /* "operator< <int>" */
		return *text->piece == ' ' && text->before == CXX_TEXT_OPERATOR;
	default:
		return false;
	}
}

static enum cxx_text_what read_open(struct cxx_text *text)
{
	if (text->depth == CXX_TEXT_DEPTH)
		return piece(text, CXX_TEXT_WRONG, 0);
	text->open[text->depth++] = *text->at;
	return piece(text, CXX_TEXT_OPEN, 1);
}

static enum cxx_text_what read_close(struct cxx_text *text, char open)
{
	if (!text->depth || text->open[text->depth - 1] != open)
		return piece(text, CXX_TEXT_WRONG, 0);
	text->depth--;
	return piece(text, CXX_TEXT_CLOSE, 1);
}

static enum cxx_text_what read_greater(struct cxx_text *text)
{
	bool arrow = text->what == CXX_TEXT_SIGN && *text->piece == '-';

	if (arrow || (text->depth && text->open[text->depth - 1] != '<'))
		return piece(text, CXX_TEXT_SIGN, 1);
	return read_close(text, '<');
}

static enum cxx_text_what read_piece(struct cxx_text *text)
{
	size_t tag;

	switch (*text->at) {
	case '<':
		return opens(text) ? read_open(text) : piece(text, CXX_TEXT_SIGN, 1);
	case '>':
		return read_greater(text);
	case '(':
		if (begins(text, text->at, ANONYMOUS))
			return piece(text, CXX_TEXT_WORD, sizeof(ANONYMOUS) - 1);
		return read_open(text);
	case '[':
		tag = tag_length(text);
		return tag ? piece(text, CXX_TEXT_TAG, tag) : read_open(text);
	case '{':
		return read_open(text);
	case ')':
		return read_close(text, '(');
	case ']':
		return read_close(text, '[');
	case '}':
		return read_close(text, '{');
	case ':':
		if (begins(text, text->at, "::"))
			return piece(text, CXX_TEXT_COLONS, 2);
		return piece(text, CXX_TEXT_SIGN, 1);
	default:
		return is_letter(*text->at) ? read_word(text) : piece(text, CXX_TEXT_SIGN, 1);
	}
}

enum cxx_text_what cxx_text_next(struct cxx_text *text)
{
	enum cxx_text_what before = text->what;

	if (text->at == text->end)
		return piece(text, text->depth ? CXX_TEXT_WRONG : CXX_TEXT_END, 0);
	read_piece(text);
	text->before = before;
	return text->what;
}
