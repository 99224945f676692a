/* SPDX-License-Identifier: MIT */
/* Building text without libc. */
#include "t/lib/tap.h"

#include "runtime/base/text.h"

int main(void)
{
	char buffer[32];
	struct text text = {buffer, sizeof(buffer), 0};

	text_string(&text, "a");
	text_char(&text, ' ');
	text_number(&text, 0);
	text_char(&text, ' ');
	text_number(&text, 1234567890);
	is_str(buffer, "a 0 1234567890", "strings, characters and numbers follow each other");
	is_int((long long)text.length, 14, "the length is that of the string");

	text.length = 0;
	text_number(&text, UINT64_MAX);
	is_str(buffer, "18446744073709551615", "the greatest number has all its digits");

	memset(buffer, 'x', sizeof(buffer));
	text = (struct text){buffer, 8, 0};
	text_string(&text, "0123456789");
	is_str(buffer, "0123456", "what does not fit is cut");
	text_number(&text, 42);
	is_str(buffer, "0123456", "and what follows too");
	is_int((long long)text.length, 7, "the length is that of what fits");
	is_int(buffer[8], 'x', "nothing is written behind the buffer");

	text = (struct text){buffer, 1, 0};
	text_string(&text, "abc");
	is_str(buffer, "", "a buffer of one byte holds the end of the string alone");
	is_int(buffer[1], '1', "and no more");

	char said[64];
	int wrong = 0, numbers = 0;
	for (int error = 1; error <= 133; error++) {
		text = (struct text){said, sizeof(said), 0};
		text_error(&text, -error);
		numbers += !strncmp(said, "errno ", 6);
		wrong += strncmp(said, "errno ", 6) != 0 && strcmp(said, strerror(error)) != 0;
	}
	is_int(wrong, 0, "the words of an error are those of libc");
	ok(numbers > 0 && numbers < 100, "of rare ones there is the number: %d", numbers);
	text = (struct text){said, sizeof(said), 0};
	text_error(&text, 13);
	is_str(said, "Permission denied", "13 is \"Permission denied\"");
	text = (struct text){said, sizeof(said), 0};
	text_error(&text, 4000);
	is_str(said, "errno 4000", "a number that is none keeps its value");

	char all[256 + 1];
	for (int i = 0; i < 256; i++)
		all[i] = (char)(i < 255 ? i + 1 : 0);
	size_t marks = 0;
	is_int((long long)text_clean(all), 255, "bytes that are no UTF-8 become one '?' each");
	for (int i = 0; i < 255; i++)
		marks += all[i] == '?';
	is_int((long long)marks, 31 + 1 + 1 + 128, "and so do control characters; letters stay");

	char names[] = "a\x1b[31m \xc2\x9b"
		       "31m\xc2\xa0\xc3\xa4\xe2\x86\x92\xf0\x9f\x8c\xb3\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8.";
	text_clean(names);
	is_str(names, "a?[31m ?31m\xc2\xa0\xc3\xa4\xe2\x86\x92\xf0\x9f\x8c\xb3???.",
		"U+0080 to U+009F and what turns the direction of writing become '?'; umlauts, arrows and trees stay");
	char cut[] = "\xe2\x86";
	text_clean(cut);
	is_str(cut, "??", "a character that is cut off is not looked at beyond the end");
	return done_testing();
}
