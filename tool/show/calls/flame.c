/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/show.h"
#include "tool/show/term/cut.h"
#include "tool/show/term/fit.h"

/* Pixels. */
#define WIDTH	   1200
#define MARGIN	   12
#define ROW	   18
#define HEAD	   64
#define LETTER	   7.23 /* of 12 pixels, monospaced */
#define LABEL_PAD  4
#define LEAST	   0.2	/* a box that is narrower is not drawn */
#define FRAMED	   2.0	/* one that is wider has a gap to the next */
#define DEPTH_MOST 1000 /* boxes upon each other */

#define MIDDLE 8 /* columns: less shows the beginning alone */

#define ELLIPSIS "\xe2\x80\xa6"
#define HUES	 12
#define HUE_STEP 5 /* has no factor in common with their number */
#define SHADES	 9 /* three of lightness, three beside the hue */
#define TITLE	  105 /* columns */
#define LIBRARIES 6 /* that are told of below */

struct function {
	uint32_t number;
	char *name;
	uint32_t library; /* NONE: it has none */
};
#define NONE UINT32_MAX

struct box {
	uint32_t frame, depth;
	double x, width;
};

struct library {
	const char *path;
	uint64_t own;
	uint32_t hue;
};

struct picture {
	FILE *to;
	const struct flame *flame;
	uint64_t *total;	 /* by frame, as the next ones */
	uint32_t *function;	 /* row of its name */
	uint32_t *first, *count; /* its children in `child` */
	uint32_t *child;
	struct function *row;
	uint32_t rows;
	struct hash by_number;
	struct box *box;
	uint32_t boxes, depth;
	uint32_t left_out; /* frames, and what was spent in them */
	uint64_t left;
	struct library *library;
	uint32_t libraries;
	struct hash by_path;
	uint32_t *order; /* of libraries: those with the most first */
};

/* ---- text ---- */

static void put_character(FILE *to, const char *p, size_t length)
{
	/* XML has no U+FFFE and U+FFFF. */
	bool none = length == 3 && !memcmp(p, "\xef\xbf", 2) && ((unsigned char)p[2] >= 0xbe);

	if (none)
		putc('?', to);
	else if (*p == '&')
		fputs("&amp;", to);
	else if (*p == '<')
		fputs("&lt;", to);
	else if (*p == '>')
		fputs("&gt;", to);
	else
		fwrite(p, 1, length, to);
}

/* In elements, not in attributes. */
static void put_text(FILE *to, const char *text)
{
	const char *shown;
	size_t length;

	while (*text) {
		text += text_next(text, &shown, &length);
		put_character(to, shown, length);
	}
}

/* Writes a text, which has more columns than `room`, without what is in its middle. */
static void cut_middle(FILE *to, const char *text, size_t length, size_t room)
{
	size_t left = (room - 1) / 2, right = room - 1 - left, rest = fit_columns(text, length), at = 0;
	const char *end = text + length, *head = text, *tail = text;
	unsigned columns;

	for (size_t bytes; bytes = fit_character(head, end, &columns), at + columns <= left; head += bytes)
		at += columns;
	for (; rest > right; rest -= columns)
		tail += fit_character(tail, end, &columns);
	fprintf(to, "%.*s" ELLIPSIS "%s", (int)(head - text), text, tail);
}

/* A name in so many columns: of C++, the name of the method stays. */
static void put_cut(FILE *to, const char *name, size_t room)
{
	char *clean = memory_text(name, strlen(name)), *cut = NULL;
	size_t length = text_clean(clean), size;

	if (fit_columns(clean, length) > room) {
		FILE *line = memory_need(open_memstream(&cut, &size));

		if (room < MIDDLE || strpbrk(clean, "<(:"))
			cut_name(line, clean, length, room, ELLIPSIS);
		else
			cut_middle(line, clean, length, room);
		if (fclose(line))
			memory_failed();
	}
	put_text(to, cut ? cut : clean);
	free(cut);
	free(clean);
}

/* As much of a text as has so many columns. */
static void put_beginning(FILE *to, const char *text, size_t room)
{
	char *clean = memory_text(text, strlen(text)), *end = clean + text_clean(clean), *at = clean;
	unsigned width;

	for (size_t columns = 0; at < end; columns += width) {
		size_t bytes = fit_character(at, end, &width);

		if (columns + width > room)
			break;
		at += bytes;
	}
	bool cut = at < end;
	*at = '\0';
	put_text(to, clean);
	fputs(cut ? ELLIPSIS : "", to);
	free(clean);
}

static void put_amount(const struct picture *picture, uint64_t amount)
{
	char buf[SHOW_TIME_SIZE];

	if (picture->flame->counts)
		fprintf(picture->to, "%" PRIu64, amount);
	else
		fputs(show_time(buf, amount), picture->to);
}

static double share_of(const struct picture *picture, uint64_t amount)
{
	return picture->total[0] ? (double)amount / (double)picture->total[0] : 0;
}

/* ---- names ---- */

static uint32_t library_of(struct picture *picture, const char *path)
{
	uint32_t hash = hash_text(0, path);
	uint32_t number = HASH_FIND(i, &picture->by_path, hash, !strcmp(picture->library[i].path, path));

	if (number != HASH_NONE)
		return number;
	number = picture->libraries++;
	picture->library = memory_grow(picture->library, number, sizeof(*picture->library));
	picture->library[number] = (struct library){ path, 0, 0 };
	memory_hash(&picture->by_path, hash, number);
	return number;
}

static void name_frame(struct picture *picture, uint32_t frame)
{
	uint32_t number = picture->flame->frame[frame].number, hash = hash_key(number, 0);
	uint32_t row = HASH_FIND(i, &picture->by_number, hash, picture->row[i].number == number);

	if (row == HASH_NONE) {
		struct flame_name name = picture->flame->name(picture->flame->user, number);
		uint32_t library = name.library ? library_of(picture, name.library) : NONE;

		row = picture->rows++;
		picture->row = memory_grow(picture->row, row, sizeof(*picture->row));
		picture->row[row] = (struct function){ number, name.name, library };
		memory_hash(&picture->by_number, hash, row);
	}
	picture->function[frame] = row;
	if (picture->row[row].library != NONE)
		picture->library[picture->row[row].library].own += picture->flame->frame[frame].own;
}

static const char *library_name(const struct picture *picture, const struct function *function)
{
	return function->library == NONE ? NULL : tool_base(picture->library[function->library].path);
}

/* ---- colours ---- */

static const struct picture *sorted; /* for qsort */

static int by_own(const void *x, const void *y)
{
	const struct library *a = &sorted->library[*(const uint32_t *)x], *b = &sorted->library[*(const uint32_t *)y];

	return a->own < b->own ? 1 : a->own > b->own ? -1 : strcmp(a->path, b->path);
}

/* Equal names have equal hues in all pictures, but where one with more time has that: then one far from it. */
static void choose_hues(struct picture *picture)
{
	bool taken[HUES] = { false };

	picture->order = memory_zeroed(picture->libraries + 1, sizeof(*picture->order));
	for (uint32_t i = 0; i < picture->libraries; i++)
		picture->order[i] = i;
	sorted = picture;
	qsort(picture->order, picture->libraries, sizeof(*picture->order), by_own);
	for (uint32_t i = 0; i < picture->libraries; i++) {
		struct library *library = &picture->library[picture->order[i]];

		library->hue = hash_text(0, tool_base(library->path)) % HUES;
		for (int more = 0; more < HUES && taken[library->hue]; more++)
			library->hue = (library->hue + HUE_STEP) % HUES;
		taken[library->hue] = true;
	}
}

static uint32_t color_of(const struct picture *picture, const struct function *function)
{
	return picture->library[function->library].hue * SHADES + hash_text(1, function->name) % SHADES;
}

/* ---- the tree ---- */

/* In the order of names, as flamegraph.pl has it: so pictures can be compared. */
static int by_name(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(sorted->row[sorted->function[a]].name, sorted->row[sorted->function[b]].name);

	return order ? order : a < b ? -1 : a > b;
}

static void make_tree(struct picture *picture)
{
	const struct flame *flame = picture->flame;
	uint32_t at = 0;

	picture->total = memory_zeroed(flame->frames + 1, sizeof(*picture->total));
	picture->function = memory_zeroed(flame->frames + 1, sizeof(*picture->function));
	picture->first = memory_zeroed(flame->frames + 1, sizeof(*picture->first));
	picture->count = memory_zeroed(flame->frames + 1, sizeof(*picture->count));
	picture->child = memory_zeroed(flame->frames + 1, sizeof(*picture->child));
	for (uint32_t i = flame->frames; i-- > 1;) {
		picture->total[i] += flame->frame[i].own;
		picture->total[flame->frame[i].parent] += picture->total[i];
	}
	for (uint32_t i = 1; i < flame->frames; i++) {
		if (!picture->total[i])
			continue;
		name_frame(picture, i);
		picture->count[flame->frame[i].parent]++;
	}
	for (uint32_t i = 0; i < flame->frames; i++) {
		picture->first[i] = at;
		at += picture->count[i];
		picture->count[i] = 0;
	}
	for (uint32_t i = 1; i < flame->frames; i++) {
		uint32_t parent = flame->frame[i].parent;

		if (picture->total[i])
			picture->child[picture->first[parent] + picture->count[parent]++] = i;
	}
	sorted = picture;
	for (uint32_t i = 0; i < flame->frames; i++)
		qsort(picture->child + picture->first[i], picture->count[i], sizeof(*picture->child), by_name);
}

/* ---- boxes ---- */

static void add_box(struct picture *picture, uint32_t frame, uint32_t depth, double x)
{
	double width = (WIDTH - 2 * MARGIN) * (frame ? share_of(picture, picture->total[frame]) : 1);

	if (width < LEAST || depth > DEPTH_MOST) {
		picture->left_out++;
		picture->left += picture->total[frame];
		return;
	}
	picture->box = memory_grow(picture->box, picture->boxes, sizeof(*picture->box));
	picture->box[picture->boxes++] = (struct box){ frame, depth, x, width };
	picture->depth = depth > picture->depth ? depth : picture->depth;
}

/* Each box adds those upon it. Where a box begins is reckoned in what is spent, so nothing adds up but that. */
static void make_boxes(struct picture *picture)
{
	add_box(picture, 0, 0, MARGIN);
	for (uint32_t i = 0; i < picture->boxes; i++) {
		struct box box = picture->box[i];
		uint64_t before = 0;

		for (uint32_t n = 0; n < picture->count[box.frame]; n++) {
			uint32_t child = picture->child[picture->first[box.frame] + n];

			add_box(picture, child, box.depth + 1,
				box.x + (WIDTH - 2 * MARGIN) * share_of(picture, before));
			before += picture->total[child];
		}
	}
}

/* ---- how colours look ---- */

/* How bright a colour of HSL is to the eye, from 0 to 1: about what WCAG has, by squares instead of powers of 2.4. */
static double brightness(int hue, double saturation, double lightness)
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double chroma = saturation * (lightness < 0.5 ? lightness : 1 - lightness), sum = 0;

	for (int i = 0; i < 3; i++) {
		/* Red is where the hue is 0, green a third of the circle further, then blue. */
		int from = abs((hue - i * 120 + 540) % 360 - 180);
		double part = from <= 60 ? 1 : from >= 120 ? -1 : 1 - (from - 60) / 30.0;
		double value = lightness + chroma * part;

		sum += weight[i] * value * value;
	}
	return sum;
}

/* Blue is darker than yellow of one lightness: so the lightness is sought that makes both as bright. */
static int lightness_of(int hue, int saturation, double bright)
{
	int lightness = 1;

	while (lightness < 99 && brightness(hue, saturation / 100.0, (lightness + 1) / 100.0) <= bright)
		lightness++;
	return lightness;
}

/* Text in all of these has a contrast of 4.5 or more. */
static void put_style(const struct picture *picture, bool dark)
{
	static const double on_light[] = { 0.42, 0.52, 0.64 }, on_dark[] = { 0.075, 0.1, 0.13 };
	int saturation = dark ? 50 : 75;
	bool used[HUES * SHADES] = { false };

	for (uint32_t i = 0; i < picture->rows; i++)
		if (picture->row[i].library != NONE)
			used[color_of(picture, &picture->row[i])] = true;
	fprintf(picture->to, dark ? "svg{background:#16181c}text{fill:#f4f4f4}.n{fill:#a9adb5}.g{fill:#3a3e46}"
				    "rect{stroke:#16181c}g:hover rect{stroke:#fff}\n"
				  : "svg{background:#fff}text{fill:#111}.n{fill:#555}.g{fill:#d8dadd}"
				    "rect{stroke:#fff}g:hover rect{stroke:#000}\n");
	for (int i = 0; i < HUES * SHADES; i++) {
		int hue = (i / SHADES * (360 / HUES) + (i / 3 % 3 - 1) * 9 + 360) % 360;

		if (used[i])
			fprintf(picture->to, ".c%d{fill:hsl(%d,%d%%,%d%%)}\n", i, hue, saturation,
				lightness_of(hue, saturation, (dark ? on_dark : on_light)[i % 3]));
	}
}

static void put_styles(const struct picture *picture)
{
	fputs("<style>\n"
	      "text{font:12px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}\n"
	      ".t{font:600 17px system-ui,\"DejaVu Sans\",sans-serif}\n"
	      ".n{font:12px system-ui,\"DejaVu Sans\",sans-serif}\n"
	      "rect{stroke-width:0}.w rect{stroke-width:1}g:hover rect{stroke-width:1.5}\n", picture->to);
	put_style(picture, false);
	fputs("@media screen and (prefers-color-scheme:dark){\n", picture->to);
	put_style(picture, true);
	fputs("}\n</style>\n", picture->to);
}

/* ---- the file ---- */

static void put_box(const struct picture *picture, const struct box *box, uint32_t bottom)
{
	const struct flame_frame *frame = &picture->flame->frame[box->frame];
	const struct function *function = box->frame ? &picture->row[picture->function[box->frame]] : NULL;
	const char *library = function ? library_name(picture, function) : NULL;
	const char *name = function ? function->name : "all";
	uint32_t y = bottom - (box->depth + 1) * ROW;
	FILE *to = picture->to;

	fputs(box->width >= FRAMED ? "<g class=\"w\"><title>" : "<g><title>", to);
	put_text(to, name);
	if (library) {
		fputs(" [", to);
		put_text(to, library);
		putc(']', to);
	}
	fputs("\n", to);
	put_amount(picture, picture->total[box->frame]);
	fprintf(to, ", %.2f %%", 100 * share_of(picture, picture->total[box->frame]));
	if (function && !picture->flame->counts) {
		fputs("; itself ", to);
		put_amount(picture, frame->own);
	}
	if (function)
		fprintf(to, "; %" PRIu64 " call%s", frame->calls, show_s(frame->calls));
	fprintf(to, "</title><rect class=\"%s", library ? "c" : "g");
	if (library)
		fprintf(to, "%" PRIu32, color_of(picture, function));
	fprintf(to, "\" x=\"%.3f\" y=\"%" PRIu32 "\" width=\"%.3f\" height=\"%d\"/>", box->x, y, box->width, ROW - 1);
	size_t room = box->width > 2 * LABEL_PAD ? (size_t)((box->width - 2 * LABEL_PAD) / LETTER) : 0;
	if (room >= 3) {
		fprintf(to, "<text x=\"%.2f\" y=\"%" PRIu32 "\">", box->x + LABEL_PAD, y + 13);
		put_cut(to, name, room);
		fputs("</text>", to);
	}
	fputs("</g>\n", to);
}

/* What the colours mean, as far as there is room. */
static void put_libraries(const struct picture *picture, uint32_t y)
{
	double x = MARGIN;

	for (uint32_t i = 0; i < picture->libraries && i < LIBRARIES; i++) {
		const struct library *library = &picture->library[picture->order[i]];
		const char *base = tool_base(library->path);
		size_t columns = fit_columns(base, strlen(base));
		uint32_t color = 0;

		columns = columns < 24 ? columns : 24;
		for (uint32_t n = 0; n < picture->rows; n++)
			if (picture->row[n].library == picture->order[i])
				color = color_of(picture, &picture->row[n]);
		fprintf(picture->to, "<rect class=\"c%" PRIu32 "\" x=\"%.1f\" y=\"%" PRIu32 "\" ", color, x, y - 10);
		fputs("width=\"12\" height=\"12\"/>", picture->to);
		fprintf(picture->to, "<text x=\"%.1f\" y=\"%" PRIu32 "\">", x + 17, y);
		put_cut(picture->to, base, 24);
		fprintf(picture->to, " %.0f %%</text>\n", 100 * share_of(picture, library->own));
		x += 17 + LETTER * (double)(columns + 6) + 14;
	}
}

static uint32_t put_note(const struct picture *picture, uint32_t y, const char *text)
{
	fprintf(picture->to, "<text class=\"n\" x=\"%d\" y=\"%" PRIu32 "\">", MARGIN, y);
	put_text(picture->to, text);
	fputs("</text>\n", picture->to);
	return y + ROW;
}

static void put_notes(const struct picture *picture, uint32_t y)
{
	char *text, buf[SHOW_TIME_SIZE];

	put_libraries(picture, y);
	y += ROW + 4;
	if (picture->left_out) {
		bool one = picture->left_out == 1;

		text = memory_format("Not drawn: %" PRIu32 " box%s that %s too narrow or too high up, with %.2f %% "
				     "(%s), and what is upon %s.",
			picture->left_out, one ? "" : "es", one ? "is" : "are",
			100 * share_of(picture, picture->left),
			picture->flame->counts ? "of the calls" : show_time(buf, picture->left), one ? "it" : "them");
		y = put_note(picture, y, text);
		free(text);
	}
	if (picture->flame->note)
		y = put_note(picture, y, picture->flame->note);
	if (!picture->total[0])
		y = put_note(picture, y, "There is nothing to draw.");
	put_note(picture, y, "A box tells more under the mouse. To search and to zoom: xaudit html.");
}

static void put_head(const struct picture *picture, uint32_t height)
{
	FILE *to = picture->to;
	uint64_t calls = 0;

	for (uint32_t i = 1; i < picture->flame->frames; i++)
		calls += picture->flame->frame[i].calls;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" ", to);
	fprintf(to, "width=\"%d\" height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32 "\">\n<title>", WIDTH, height,
		WIDTH, height);
	put_text(to, picture->flame->title);
	fputs("</title>\n", to);
	put_styles(picture);
	fprintf(to, "<text class=\"t\" x=\"%d\" y=\"26\">", MARGIN);
	put_beginning(to, picture->flame->title, TITLE);
	fprintf(to, "</text>\n<text class=\"n\" x=\"%d\" y=\"46\">Width: %s, with that of the calls inside: ", MARGIN,
		picture->flame->what);
	put_amount(picture, picture->total[0]);
	fprintf(to, " in all, of %" PRIu64 " call%s.</text>\n", calls, show_s(calls));
}

static void free_all(struct picture *picture)
{
	for (uint32_t i = 0; i < picture->rows; i++)
		free(picture->row[i].name);
	free(picture->total);
	free(picture->function);
	free(picture->first);
	free(picture->count);
	free(picture->child);
	free(picture->row);
	free(picture->box);
	free(picture->library);
	free(picture->order);
	hash_free(&picture->by_number);
	hash_free(&picture->by_path);
}

void flame_draw(FILE *to, const struct flame *flame)
{
	struct picture picture = { .to = to, .flame = flame };
	uint32_t bottom, notes;

	make_tree(&picture);
	choose_hues(&picture);
	make_boxes(&picture);
	bottom = HEAD + (picture.depth + 1) * ROW;
	notes = 2 + !!picture.left_out + !!flame->note + !picture.total[0];
	put_head(&picture, bottom + notes * ROW + 20);
	for (uint32_t i = 0; i < picture.boxes && !ferror(to); i++)
		put_box(&picture, &picture.box[i], bottom);
	put_notes(&picture, bottom + 22);
	fputs("</svg>\n", to);
	free_all(&picture);
}
