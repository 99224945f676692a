/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/ctf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/folders/ctf_metadata.h"

#define MAGIC	  0xc1fc1fc1
#define TEXT_MOST 16000 /* bytes of one in an event */

/* Before the events of a packet. */
struct header {
	uint32_t magic, stream;
	uint64_t first, last, content_bits, packet_bits, lost;
};
_Static_assert(sizeof(struct header) == 48, "the header of a packet, as the metadata has it");

/* ---- packets ---- */

static void before(struct export *export, struct track_file *file)
{
	struct ctf_stream *stream = (struct ctf_stream *)file;
	struct header header = { MAGIC, 0, stream->first, stream->last, file->used * 8, file->used * 8, stream->lost };

	(void)export;
	memcpy(file->buffer, &header, sizeof(header));
}

static struct ctf_fields *begin_event(struct ctf *ctf)
{
	ctf->fields.size = 0;
	return &ctf->fields;
}

static void add(struct ctf_fields *event, const void *from, size_t size)
{
	/* An empty text of a trace may have no memory. */
	if (!size || event->size + size > sizeof(event->bytes))
		return;
	memcpy(event->bytes + event->size, from, size);
	event->size += size;
}

static void add_32(struct ctf_fields *event, uint32_t number)
{
	add(event, &number, sizeof(number));
}

static void add_64(struct ctf_fields *event, uint64_t number)
{
	add(event, &number, sizeof(number));
}

/* babeltrace2 writes all but control characters of ASCII as they are: so they are made harmless here. */
static void add_text(struct ctf_fields *event, const char *text)
{
	size_t start = event->size, size = text ? strnlen(text, TEXT_MOST) : 0;

	/* Between two characters. */
	for (bool cut = size == TEXT_MOST; cut && size && (text[size] & 0xc0) == 0x80;)
		size--;
	add(event, text, size);
	add(event, "", 1);
	event->size = start + text_clean((char *)event->bytes + start) + 1;
}

/* Writes the event that is made. */
static void put(struct ctf *ctf, struct ctf_stream *stream, uint16_t id, uint64_t time)
{
	size_t name = strlen(stream->name) + 1, size = 2 + 4 + 4 + 4 + name + ctf->fields.size;
	uint32_t low = (uint32_t)time;
	uint8_t *to;

	/* An event has the low half of its time: a reader knows the rest from the event before, or the packet. */
	if (stream->file.used && (stream->file.used + size > TRACK_FILES_PIECE || time - stream->last >= UINT32_MAX))
		track_files_flush(&ctf->files, &stream->file);
	if (!stream->file.used) {
		track_files_room(&ctf->files, &stream->file, sizeof(struct header));
		stream->first = time;
	}
	stream->last = time;
	to = track_files_room(&ctf->files, &stream->file, size);
	memcpy(to, &id, 2);
	memcpy(to + 2, &low, 4);
	memcpy(to + 6, &stream->pid, 4);
	memcpy(to + 10, &stream->tid, 4);
	memcpy(to + 14, stream->name, name);
	memcpy(to + 14 + name, ctf->fields.bytes, ctf->fields.size);
}

static void name_stream(struct ctf_stream *stream, const char *name)
{
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	text_clean(stream->name);
}

static void begin_stream(struct ctf_stream *stream, char *file, const struct tids *tids,
	const struct xaudit_read_process *process, uint32_t tid, const char *name)
{
	const char *exe = xaudit_read_process_info((struct xaudit_read_process *)process)->exe;

	stream->file.name = file;
	stream->pid = tids_pid(tids, process);
	stream->tid = tid;
	name_stream(stream, *name || !exe ? name : tool_base(exe));
}

static struct ctf_stream *new_stream(struct ctf *ctf)
{
	ctf->stream = memory_grow(ctf->stream, ctf->streams, sizeof(struct ctf_stream *));
	return ctf->stream[ctf->streams++] = memory_zeroed(1, sizeof(struct ctf_stream));
}

/* ---- processes ---- */

static void begin(struct export *export)
{
	struct ctf *ctf = memory_zeroed(1, sizeof(*ctf));

	export->state = ctf;
	ctf->files = (struct track_files){ .export = export, .before = before };
	ctf->processes = export->info->processes;
	ctf->loaded = memory_zeroed(ctf->processes + 1, sizeof(*ctf->loaded));
	ctf->loads.file.name = memory_format("loads");
	ctf->about.file.name = memory_format("about");
	tids_begin(&ctf->tids, export->trace);
	for (uint32_t i = 0; i < ctf->processes; i++) {
		struct xaudit_read_process *process = xaudit_read_process(export->trace, i);
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
		struct ctf_fields *event = begin_event(ctf);

		add_32(event, info->pid);
		add_32(event, info->parent);
		add_text(event, info->exe);
		add_text(event, info->command);
		add_text(event, info->host);
		ctf->about.pid = ctf->about.tid = tids_pid(&ctf->tids, process);
		name_stream(&ctf->about, info->exe ? tool_base(info->exe) : "");
		put(ctf, &ctf->about, CTF_PROCESS, export->info->start);
	}
}

static uint32_t number_of(struct export *export, const struct xaudit_read_process *process)
{
	uint32_t number = 0;

	while (number + 1 < export->info->processes && xaudit_read_process(export->trace, number) != process)
		number++;
	return number;
}

/* ---- loads ---- */

static void put_load(struct ctf *ctf, uint16_t id, uint64_t time, uint32_t number)
{
	const struct places_object *object = &ctf->places.object[number];
	const char *build_id = object->object->build_id;
	uint16_t size = (uint16_t)(strlen(build_id) / 2);
	struct ctf_fields *event = begin_event(ctf);

	add_64(event, object->base);
	add_64(event, object->span);
	add_text(event, object->object->path);
	if (id == CTF_DUMP_BINARY)
		add(event, "\1", 1);
	add(event, size ? "\1" : "", 1);
	add(event, "", 1);
	put(ctf, &ctf->loads, id, time);
	if (!size)
		return;
	begin_event(ctf);
	add_64(event, object->base);
	add(event, &size, sizeof(size));
	for (uint16_t i = 0; i < size; i++) {
		char digits[3] = { build_id[2 * i], build_id[2 * i + 1], '\0' };

		add(event, &(uint8_t){ (uint8_t)strtoul(digits, NULL, 16) }, 1);
	}
	put(ctf, &ctf->loads, id == CTF_DLOPEN ? CTF_BUILD_ID : CTF_DUMP_BUILD_ID, time);
}

static void set_loads(struct export *export, struct xaudit_read_process *process, uint32_t tid)
{
	struct ctf *ctf = export->state;

	ctf->loads.pid = tids_pid(&ctf->tids, process);
	ctf->loads.tid = tid;
	const char *exe = xaudit_read_process_info(process)->exe;
	name_stream(&ctf->loads, exe ? tool_base(exe) : "");
}

/* Forked processes have what their parents had: as LTTng-UST does it, all of that is told when they begin. */
static void dump_forked(struct export *export, uint64_t until)
{
	struct ctf *ctf = export->state;

	for (; ctf->dumped < ctf->processes; ctf->dumped++) {
		struct xaudit_read_process *process = xaudit_read_process(export->trace, ctf->dumped);
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
		struct ctf_loads *own = &ctf->loaded[ctf->dumped], *parent = NULL;
		uint64_t time = info->start > ctf->loads.last ? info->start : ctf->loads.last;

		if (info->start > until)
			break;
		for (uint32_t i = 0; i < ctf->dumped && xaudit_read_process_head(process)->forked; i++)
			if (xaudit_read_process_info(xaudit_read_process(export->trace, i))->pid == info->parent)
				parent = &ctf->loaded[i];
		if (!parent)
			continue;
		set_loads(export, process, info->pid);
		begin_event(ctf);
		put(ctf, &ctf->loads, CTF_DUMP_START, time);
		for (uint32_t i = 0; i < parent->count; i++) {
			own->object = memory_grow(own->object, own->count, sizeof(*own->object));
			own->object[own->count++] = parent->object[i];
			put_load(ctf, CTF_DUMP_BINARY, time, parent->object[i]);
		}
		begin_event(ctf);
		put(ctf, &ctf->loads, CTF_DUMP_END, time);
	}
}

static void load(struct export *export, const struct xaudit_read_event *event)
{
	struct ctf *ctf = export->state;
	uint32_t object = places_object(&ctf->places, event->object);
	struct ctf_loads *loads = &ctf->loaded[number_of(export, event->process)];
	uint64_t time;

	if (event->inherited)
		return;
	dump_forked(export, event->time);
	time = event->time > ctf->loads.last ? event->time : ctf->loads.last;
	set_loads(export, event->process, event->tid);
	if (event->what == XAUDIT_READ_EVENT_LOAD) {
		loads->object = memory_grow(loads->object, loads->count, sizeof(*loads->object));
		loads->object[loads->count++] = object;
		put_load(ctf, CTF_DLOPEN, time, object);
		return;
	}
	struct ctf_fields *closed = begin_event(ctf);
	add_64(closed, ctf->places.object[object].base);
	add_text(closed, event->object->path);
	put(ctf, &ctf->loads, CTF_DLCLOSE, time);
	for (uint32_t i = 0; i < loads->count; i++)
		if (loads->object[i] == object) {
			loads->object[i] = loads->object[--loads->count];
			break;
		}
}

/* ---- times on processors ---- */

static void run(struct export *export, struct xaudit_read_process *process, uint32_t tid,
	const struct xaudit_read_run *run)
{
	struct ctf *ctf = export->state;
	struct ctf_fields *event = begin_event(ctf);

	if (!ctf->runs || ctf->run_process != process || ctf->run_tid != tid) {
		ctf->runs = new_stream(ctf);
		begin_stream(ctf->runs, memory_format("runs-%" PRIu32, ctf->run_streams++), &ctf->tids, process, tid,
			"");
		ctf->run_process = process;
		ctf->run_tid = tid;
	}
	add(event, &(uint8_t){ (uint8_t)run->state }, 1);
	add_64(event, run->to - run->from);
	put(ctf, ctf->runs, CTF_RUN, run->from);
}

/* ---- tracks ---- */

static struct ctf_stream *stream_of(struct export *export, struct export_track *track)
{
	struct ctf *ctf = export->state;
	struct ctf_stream *stream = track->user;

	if (stream)
		return stream;
	stream = track->user = new_stream(ctf);
	stream->track = track;
	begin_stream(stream, memory_format("track-%" PRIu32, ctf->tracks++), &ctf->tids, track->process,
		tids_track(&ctf->tids, track), track->name);
	return stream;
}

/* The newest name of its thread, which is known only when all is read. */
static const char *thread_name(struct export *export, const struct export_track *track)
{
	uint32_t count = xaudit_read_threads(export->trace);

	for (uint32_t i = 0; i < count; i++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(export->trace, i);

		if (thread->process == track->process && thread->tid == track->tid)
			return thread->name;
	}
	return track->name;
}

static void put_tracks(struct export *export)
{
	struct ctf *ctf = export->state;

	for (uint32_t i = 0; i < ctf->streams; i++) {
		struct ctf_stream *stream = ctf->stream[i];
		const struct export_track *track = stream->track;
		struct ctf_fields *event = begin_event(ctf);

		if (!track)
			continue;
		add_32(event, track->tid);
		add_32(event, track->stack);
		add_32(event, track->beside);
		const char *name = thread_name(export, track);
		add_text(event, *name ? name : *stream->name ? stream->name : "unknown");
		put(ctf, stream, CTF_TRACK, stream->last);
	}
}

static uint32_t id_of(struct ctf *ctf, const struct xaudit_read_function *function)
{
	uint32_t *id = memory_number(&ctf->id, &ctf->room, function->number);

	if (!*id) {
		ctf->function = memory_grow(ctf->function, ctf->functions, sizeof(*ctf->function));
		ctf->function[ctf->functions++] = function;
		*id = ctf->functions;
	}
	return *id - 1;
}

static struct ctf_fields *begin_call(struct ctf *ctf, const struct xaudit_read_call *call)
{
	const struct xaudit_read_call *caller = call->parent;
	struct ctf_fields *event = begin_event(ctf);

	add_64(event, places_function(&ctf->places, call->function)->address);
	add_64(event, caller ? places_function(&ctf->places, caller->function)->address : 0);
	add_32(event, id_of(ctf, call->function));
	return event;
}

static void add_arguments(struct ctf_fields *event, const struct xaudit_read_call *call)
{
	size_t size = xaudit_read_arguments_text(call->entered, NULL, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	if (call->entered)
		xaudit_read_arguments_text(call->entered, NULL, text, size);
	/* babeltrace2 2.0 takes an empty text at the end of a packet for the one before. */
	add_text(event, *text ? text : "()");
	free(text);
}

static uint16_t entry_kind(const struct xaudit_read_call *call, const struct xaudit_read_stack *stack)
{
	if (call->request)
		return stack ? CTF_ENTRY_REQUEST_CALLERS : CTF_ENTRY_REQUEST;
	return stack ? CTF_ENTRY_CALLERS : call->entered ? CTF_ENTRY_VALUES : CTF_ENTRY;
}

static void enter(struct export *export, const struct export_call *is)
{
	struct ctf *ctf = export->state;
	struct ctf_stream *stream = stream_of(export, is->track);
	const struct xaudit_read_call *call = is->call;
	const struct xaudit_read_stack *stack = call->entered ? xaudit_read_stack(call->entered) : NULL;
	struct ctf_fields *event = begin_call(ctf, call);

	if (call->entered || call->request)
		add_arguments(event, call);
	if (call->request)
		add_text(event, call->request);
	if (stack) {
		const struct ctf_callers_one *callers = ctf_callers(&ctf->callers, stack);

		add(event, callers->bytes, callers->size);
	}
	put(ctf, stream, entry_kind(call, stack), is->start);
}

static void leave(struct export *export, const struct export_call *is)
{
	struct ctf *ctf = export->state;
	const struct xaudit_read_call *call = is->call;
	struct ctf_fields *event = begin_call(ctf, call);

	add(event, &(uint8_t){ (uint8_t)call->how }, 1);
	if (call->ended) {
		size_t size = xaudit_read_result_text(call->ended, (int)call->how, NULL, 0) + 1;
		char *text = memory_zeroed(size, 1);

		xaudit_read_result_text(call->ended, (int)call->how, text, size);
		add_text(event, strncmp(text, " = ", 3) ? text : text + 3);
		free(text);
	}
	put(ctf, is->track->user, call->ended ? CTF_EXIT_VALUES : CTF_EXIT, is->end);
}

/* ---- other events ---- */

static void put_custom(struct export *export, struct export_track *track, struct ctf_custom custom, uint64_t time)
{
	struct ctf *ctf = export->state;
	struct ctf_stream *stream = stream_of(export, track);
	struct ctf_fields *event = begin_event(ctf);

	add(event, custom.data, custom.size);
	put(ctf, stream, (uint16_t)(CTF_EVENTS + custom.type), time);
	free(custom.data);
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	put_custom(export, track, ctf_custom(export, &((struct ctf *)export->state)->types, item), item->time);
}

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	put_custom(export, track, ctf_probe(&((struct ctf *)export->state)->types, item), item->time);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct ctf *ctf = export->state;
	/* It is not known where: of two streams that every trace has, the one with fewer events. */
	struct ctf_stream *stream = track ? stream_of(export, track) : &ctf->loads;

	/* The packet in which events are missing tells their number. */
	if (item->what == XAUDIT_READ_LOST) {
		stream->lost += item->count;
	} else if (track) {
		add_64(begin_event(ctf), item->count);
		put(ctf, stream, CTF_OVERWRITTEN, item->time);
	}
}

static void counted(struct export *export, const struct xaudit_read_item *item)
{
	struct ctf *ctf = export->state;
	const struct xaudit_read_process_info *info = xaudit_read_process_info(item->process);
	struct ctf_fields *event = begin_event(ctf);

	places_function(&ctf->places, item->function);
	add_32(event, id_of(ctf, item->function));
	add_64(event, item->count);
	ctf->about.pid = ctf->about.tid = tids_pid(&ctf->tids, item->process);
	name_stream(&ctf->about, info->exe ? tool_base(info->exe) : "");
	put(ctf, &ctf->about, CTF_COUNTED, export->info->start);
}

/* ---- the end ---- */

static void put_functions(struct export *export)
{
	struct ctf *ctf = export->state;

	for (uint32_t i = 0; i < ctf->functions; i++) {
		const struct xaudit_read_function *function = ctf->function[i];
		struct ctf_fields *event = begin_event(ctf);

		add_32(event, i);
		add_64(event, places_function(&ctf->places, function)->address);
		add_text(event, function->name);
		add_text(event, function->object->path);
		add_text(event, function->object->soname);
		add_text(event, function->object->build_id);
		put(ctf, &ctf->about, CTF_FUNCTION, export->info->start);
	}
}

static void free_all(struct ctf *ctf)
{
	for (uint32_t i = 0; i < ctf->streams; i++) {
		free(ctf->stream[i]->file.name);
		free(ctf->stream[i]);
	}
	for (uint32_t i = 0; i < ctf->processes; i++)
		free(ctf->loaded[i].object);
	free(ctf->stream);
	free(ctf->loaded);
	free(ctf->loads.file.name);
	free(ctf->about.file.name);
	free(ctf->id);
	free(ctf->function);
	ctf_types_free(&ctf->types);
	ctf_callers_free(&ctf->callers);
	places_free(&ctf->places);
	tids_free(&ctf->tids);
	free(ctf);
}

static void end(struct export *export)
{
	struct ctf *ctf = export->state;
	FILE *metadata;

	dump_forked(export, UINT64_MAX);
	put_functions(export);
	put_tracks(export);
	track_files_end(&ctf->files);
	metadata = export->failed ? NULL : export_file(export, "metadata");
	if (metadata) {
		ctf_describe(metadata, export);
		export_file_end(export, "metadata", metadata);
	}
	free_all(ctf);
}

const struct export_format export_ctf = {
	.name = "ctf",
	.help = "a folder in CTF 1.8 for babeltrace2 and Trace Compass",
	.folder = true,
	.begin = begin,
	.end = end,
	.enter = enter,
	.leave = leave,
	.counted = counted,
	.custom = custom,
	.probe = probe,
	.lost = lost,
	.load = load,
	.run = run,
};
