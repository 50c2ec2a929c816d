/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_stack.c - CPU samples and call stacks (profile_packet.proto, profile_common.proto).
 *
 * Each distinct stack of a process is written once, as interned data: its frames, the mappings of
 * these frames, and texts. If the process maps or unmaps files, the stack is interned again at its
 * next use. Samples and events refer to the stack by a number. The memory for interned entries is
 * bounded; an entry without a place is written again when it is needed again.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "base/vec.h"
#include "convert/plain.h"

#define INTERNED_MOST (UINT32_C(1) << 20)
#define LINES_MOST    16   /* greatest number of functions of an annotation */
#define NAME_MOST     1024 /* longer names of functions and files are shortened */

enum { /* InternedData, InternedString, Mapping, Frame, Callstack */
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19,
	ENTRY_IID = 1,
	ENTRY_TEXT = 2,
	MAPPING_BUILD_ID = 2,
	MAPPING_START = 4,
	MAPPING_END = 5,
	MAPPING_BIAS = 6,
	MAPPING_PATH = 7,
	MAPPING_OFFSET = 8,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	STACK_FRAME = 2,
};

enum { /* PerfSample */
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	MODE_KERNEL = 1,
	MODE_USER = 2,
};

int perfetto_stack_keep(struct perfetto *perfetto, const struct fmt_event *event)
{
	struct perfetto_stacks *stacks = &perfetto->stacks;

	if (!vec_reach(&stacks->of, &stacks->sources, event->source))
		return ENOMEM;
	stacks_keep(&stacks->of[event->source], event->type->fields, event->data, event->data_len);
	return 0;
}

/* ------------------------------------------------------------------ interned data */

/*
 * Returns the identifier of the entry with this key. *is_new becomes true if the caller must write
 * the entry. If memory is lacking, sets packet.failed.
 */
static uint64_t intern_key(struct perfetto *perfetto, const char *key, bool *is_new)
{
	struct perfetto_stacks *stacks = &perfetto->stacks;
	const size_t before = stacks->interned.count;
	uint32_t index = before < INTERNED_MOST ? nameset_index(&stacks->interned, key) :
			 nameset_find(&stacks->interned, key);

	*is_new = index == TABLE_NONE || index == before;
	if (index != TABLE_NONE)
		return (uint64_t)index + 1;
	perfetto->packet.failed |= before < INTERNED_MOST;
	return INTERNED_MOST + ++stacks->overflow;
}

/*
 * Interns a text as an entry of a field of InternedData. The key begins with the field, because
 * each field has separate identifiers. Bytes that are not UTF-8 are escaped.
 */
static uint64_t intern_text(struct perfetto *perfetto, unsigned field, const void *text, size_t len)
{
	struct proto *p = &perfetto->packet;
	char key[PLAIN_FACTOR * NAME_MOST + 8];
	int begin = snprintf(key, sizeof(key), "%u ", field);
	bool is_new;
	uint64_t iid;
	size_t entry;

	plain_text(key + begin, text, len < NAME_MOST ? len : NAME_MOST, NULL);
	iid = intern_key(perfetto, key, &is_new);
	if (!is_new)
		return iid;
	entry = proto_begin(p, field);
	proto_number(p, ENTRY_IID, iid);
	proto_text(p, ENTRY_TEXT, key + begin);
	proto_end(p, entry);
	return iid;
}

/* Interns the bytes of a build-id. The key has hexadecimal digits, because a key is a text. */
static uint64_t intern_build_id(struct perfetto *perfetto, const struct posix_trace_mapping_np *of)
{
	char key[2 * POSIX_TRACE_BUILD_ID_MAX_NP + 8], *to = key + sprintf(key, "id ");
	struct proto *p = &perfetto->packet;
	bool is_new;
	uint64_t iid;
	size_t entry;

	for (uint32_t i = 0; i < of->build_id_len && i < POSIX_TRACE_BUILD_ID_MAX_NP; i++)
		to = put_hex(to, of->build_id[i], 2);
	*to = '\0';
	iid = intern_key(perfetto, key, &is_new);
	if (!is_new)
		return iid;
	entry = proto_begin(p, INTERNED_BUILD_ID);
	proto_number(p, ENTRY_IID, iid);
	proto_bytes(p, ENTRY_TEXT, of->build_id,
		    of->build_id_len < POSIX_TRACE_BUILD_ID_MAX_NP ? of->build_id_len :
		    POSIX_TRACE_BUILD_ID_MAX_NP);
	proto_end(p, entry);
	return iid;
}

/*
 * Interns a mapping. A reader needs a mapping for each frame, so frames of the kernel and of
 * unknown files have a mapping, too, with a name in brackets. The load bias is the difference
 * between the address in the file's symbols and the offset in the file.
 */
static uint64_t intern_mapping(struct perfetto *perfetto, const struct fmt_frame *frame,
			       uint64_t address)
{
	const struct posix_trace_mapping_np none = {
		.path = stacks_is_kernel(address) ? "[kernel]" : "[unknown]",
	};
	const struct posix_trace_mapping_np *of = frame->is_mapped ? &frame->mapping : &none;
	/* A path is a list of names. Readers put a slash before each of them. */
	const char *path_text = of->path + (*of->path == '/');
	uint64_t path = intern_text(perfetto, INTERNED_PATH, path_text, strlen(path_text));
	uint64_t build_id = of->build_id_len ? intern_build_id(perfetto, of) : 0;
	struct proto *p = &perfetto->packet;
	char key[128];
	bool is_new;
	uint64_t iid;
	size_t entry;

	snprintf(key, sizeof(key), "map %llx %llx %llx %llx %llx %llx", (unsigned long long)path,
		 (unsigned long long)build_id, (unsigned long long)of->start,
		 (unsigned long long)of->end, (unsigned long long)of->offset,
		 (unsigned long long)of->base);
	iid = intern_key(perfetto, key, &is_new);
	if (!is_new)
		return iid;
	entry = proto_begin(p, INTERNED_MAPPING);
	proto_number(p, ENTRY_IID, iid);
	if (build_id)
		proto_number(p, MAPPING_BUILD_ID, build_id);
	proto_number(p, MAPPING_OFFSET, of->offset);
	proto_number(p, MAPPING_START, of->start);
	proto_number(p, MAPPING_END, of->end);
	proto_number(p, MAPPING_BIAS, of->start - of->base - of->offset);
	proto_number(p, MAPPING_PATH, path);
	proto_end(p, entry);
	return iid;
}

/* Interns a frame. The name of its function is the same as in all other exports of stacks. */
static uint64_t intern_frame(struct perfetto *perfetto, const struct fmt_event *event,
			     const struct stacks_found *found, size_t index)
{
	struct proto *p = &perfetto->packet;
	const uint64_t address = found->frame[index];
	uint64_t function, mapping, source = 0, iid;
	struct fmt_frame frame;
	char text[96];
	bool is_new;
	size_t entry;

	fmt_frame(perfetto->flow, event->pid, found, index, event->time_ns, &frame);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	if (!frame.function)
		frame.function = text;
	function = intern_text(perfetto, INTERNED_FUNCTION, frame.function,
			       strlen(frame.function));
	if (frame.file)
		source = intern_text(perfetto, INTERNED_SOURCE, frame.file, strlen(frame.file));
	mapping = intern_mapping(perfetto, &frame, address);
	snprintf(text, sizeof(text), "at %llx %llx %llx %u", (unsigned long long)function,
		 (unsigned long long)mapping, (unsigned long long)address,
		 source ? frame.line : 0);
	iid = intern_key(perfetto, text, &is_new);
	if (!is_new)
		return iid;
	entry = proto_begin(p, INTERNED_FRAME);
	proto_number(p, ENTRY_IID, iid);
	proto_number(p, FRAME_FUNCTION, function);
	proto_number(p, FRAME_MAPPING, mapping);
	proto_number(p, FRAME_ADDRESS, frame.is_mapped ? address - frame.mapping.base : address);
	if (source)
		proto_number(p, FRAME_SOURCE, source);
	if (source && frame.line)
		proto_number(p, FRAME_LINE, frame.line);
	proto_end(p, entry);
	return iid;
}

/*
 * Interns a stack by its key, in a separate packet, because the packet of the event may already
 * have interned data, and a packet has this field only once. Readers expect the outermost frame
 * first.
 */
static int intern_stack(struct perfetto *perfetto, const struct fmt_event *event,
			const struct stacks_found *found, const char *key, uint64_t *iid)
{
	struct proto *p = &perfetto->packet;
	size_t packet, interned, entry;
	uint64_t *frame;
	bool is_new;

	*iid = intern_key(perfetto, key, &is_new);
	if (!is_new || p->failed)
		return p->failed ? ENOMEM : 0;
	frame = calloc(found->count, sizeof(*frame));
	if (!frame)
		return ENOMEM;
	packet = perfetto_begin_untimed(perfetto);
	proto_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	interned = proto_begin(p, PACKET_INTERNED_DATA);
	for (size_t i = 0; i < found->count; i++)
		frame[i] = intern_frame(perfetto, event, found, i);
	entry = proto_begin(p, INTERNED_STACK);
	proto_number(p, ENTRY_IID, *iid);
	for (size_t i = found->count; i-- > 0;)
		proto_number(p, STACK_FRAME, frame[i]);
	proto_end(p, entry);
	proto_end(p, interned);
	free(frame);
	return perfetto_end(perfetto, packet);
}

int perfetto_stack(struct perfetto *perfetto, const struct fmt_event *event,
		   struct stacks_found *found, uint64_t *iid)
{
	const struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	struct perfetto_stacks *stacks = &perfetto->stacks;
	char key[96];

	*iid = 0;
	if (kind->stack < 0 || event->source >= stacks->sources ||
	    !stacks_get(&stacks->of[event->source], kind->as->name, event->type->fields,
			kind->stack, event->data, event->data_len, found) || !found->count)
		return 0;
	/*
	 * The first address of a sample is exact, and the first address of a call is not. So the
	 * key has is_exact.
	 */
	snprintf(key, sizeof(key), "stack %u %u %u %d %zu", event->source, event->pid,
		 found->number, found->is_exact,
		 perfetto_mapped_changes(stacks, event->pid, event->time_ns));
	return intern_stack(perfetto, event, found, key, iid);
}

/* ------------------------------------------------------------------ samples and events */

int perfetto_sample(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct plan *plan = &perfetto->kind[event->type->index].plan;
	struct proto *p = &perfetto->packet;
	struct stacks_found found;
	size_t packet, sample;
	uint64_t iid;
	char key[96];
	int err = perfetto_stack(perfetto, event, &found, &iid);

	/* If the sample has no stack, its address becomes a stack of one frame. */
	if (!err && !iid && event->address) {
		found = (struct stacks_found){ .frame = &event->address, .count = 1,
					       .is_exact = true };
		snprintf(key, sizeof(key), "alone %u %u %llx %zu", event->source, event->pid,
			 (unsigned long long)event->address,
			 perfetto_mapped_changes(&perfetto->stacks, event->pid, event->time_ns));
		err = intern_stack(perfetto, event, &found, key, &iid);
	}
	if (err)
		return err;
	packet = perfetto_begin(perfetto, event->time_ns);
	sample = proto_begin(p, PACKET_PERF_SAMPLE);
	proto_number(p, SAMPLE_CPU, perfetto_field(perfetto, event, plan->other));
	proto_number(p, SAMPLE_PID, event->pid);
	proto_number(p, SAMPLE_TID, event->tid);
	if (iid) {
		proto_number(p, SAMPLE_STACK, iid);
		proto_number(p, SAMPLE_MODE,
			     stacks_is_kernel(found.frame[0]) ? MODE_KERNEL : MODE_USER);
	}
	proto_end(p, sample);
	return perfetto_end(perfetto, packet);
}

/*
 * Each event has the whole text, because readers of 2021 do not support interned texts of
 * annotations. They do not support call stacks of events, either, so this annotation is the only
 * stack that they show.
 */
void perfetto_stack_annotate(struct perfetto *perfetto, const struct fmt_event *event,
			     const struct stacks_found *found)
{
	size_t count = found->count < LINES_MOST ? found->count : LINES_MOST, used = 0;
	char text[LINES_MOST * 128], name[PLAIN_FACTOR * 100 + 1];

	for (size_t i = 0; i < count; i++) {
		struct fmt_frame frame;
		size_t len;

		fmt_frame(perfetto->flow, event->pid, found, i, event->time_ns, &frame);
		if (frame.function) {
			len = strlen(frame.function);
			plain_text(name, frame.function, len < 100 ? len : 100, NULL);
		} else {
			snprintf(name, sizeof(name), "0x%llx",
				 (unsigned long long)found->frame[i]);
		}
		len = strlen(name);
		if (used + len + 2 > sizeof(text))
			break;
		if (i)
			text[used++] = '\n';
		memcpy(text + used, name, len);
		used += len;
	}
	text[used] = '\0';
	perfetto_annotate_text(&perfetto->packet, "callstack", text);
}

void perfetto_stacks_fini(struct perfetto_stacks *stacks)
{
	for (size_t i = 0; i < stacks->sources; i++)
		stacks_fini(&stacks->of[i]);
	free(stacks->of);
	free(stacks->change);
	nameset_fini(&stacks->interned);
}
