/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/level.c - a stream's level: types that are described with a greater level are filtered out.
 *
 * A thread that sets a level stores it in the region and then examines the types. A process that
 * describes a type publishes the description and then examines the regions. Both sequences are
 * sequentially consistent, so that at least one of the two sees the stores of the other. The thread
 * that sets a level repeats its examination while descriptions are added, because it may have
 * looked at a type before the type got its description.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <trace_np.h>

#include "arena/attachment.h"
#include "arena/silence.h"
#include "base/io.h"
#include "drain/drain.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/level.h"
#include "record/eventset.h"

/* limit of the repetitions, because a process may describe types without end */
#define TRIES 100

int ptx_level_of(const struct ptx_lists *lists, unsigned type)
{
	struct posix_trace_schema_np schema;
	char text[PTX_SCHEMA_BYTES];

	/*
	 * A type without a description, or with a description that is not a schema, has no level.
	 */
	if (!ptx_schemas_get(&lists->schemas, type, text) || ptx_schema_parse(text, &schema))
		return 0;
	return schema.level;
}

/*
 * Changes the filter of a locked stream so that it obeys max_level. If max_level is 0, the stream
 * has no level, and all types that have a level are admitted.
 */
static void apply_level(struct ptx_stream *stream, const struct ptx_lists *lists, int max_level,
			const void *address)
{
	trace_event_set_t old, new;

	ptx_drain_sync(stream->drain);
	ptx_control_filter(stream, &old);
	new = old;
	/* Only types of the program are examined, because system events have no level. */
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_FIRST_USER + PTX_NAMES; type++) {
		int level = ptx_level_of(lists, type);

		/*
		 * A level does not change the bits of types without a level: only
		 * posix_trace_set_filter() changes these bits.
		 */
		if (level && max_level && level > max_level)
			ptx_eventset_add(&new, type);
		else if (level)
			ptx_eventset_del(&new, type);
	}
	/* Without a change, no FILTER event is recorded. */
	if (memcmp(old.__bits, new.__bits, sizeof(new.__bits)))
		ptx_filter_change(stream, &old, &new, false, address);
}

/*
 * Returns the number of descriptions. Because of the fence, this thread's stores come before the
 * load. So a process whose description is not counted here sees these stores.
 */
static uint64_t count_descriptions(const struct ptx_lists *lists)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&lists->schemas.changes, memory_order_seq_cst);
}

/* Stores the level and applies it to all types that are described. */
static void set_level(struct ptx_stream *stream, int max_level, const void *address)
{
	const struct ptx_lists *lists = stream->drain->arena->lists;
	uint64_t changes, seen;
	int tries = TRIES;

	/* seq_cst: pairs with the load in obey_level(). */
	atomic_store_explicit(&stream->view->rings.region->max_level, (uint32_t)max_level,
			      memory_order_seq_cst);
	/* Without lists there are no descriptions. */
	if (!lists)
		return;
	changes = count_descriptions(lists);
	do {
		seen = changes;
		apply_level(stream, lists, max_level, address);
		changes = count_descriptions(lists);
	} while (changes != seen && tries-- > 0);
}

/* max_level 1 to 5; 0: no level. EINVAL: another value, or not an active stream. */
PTX_EXPORT int posix_trace_set_level_np(trace_id_t trid, int max_level)
{
	struct ptx_call call = ptx_call_begin();
	/* The address of FILTER events is that of the call (SYSEV-04). */
	const void *address = (const char *)__builtin_return_address(0) - 1;
	struct ptx_stream *stream;

	if (max_level < 0 || max_level > 5)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	set_level(stream, max_level, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/* Stores the level, 0 for none. */
PTX_EXPORT int posix_trace_get_level_np(trace_id_t trid, int *max_level)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	uint32_t level;

	if (!max_level)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	level = atomic_load_explicit(&stream->view->rings.region->max_level, memory_order_relaxed);
	ptx_stream_unlock(stream);
	/* The region is shared memory: another process may have stored any value. */
	*max_level = level <= 5 ? (int)level : 0;
	return ptx_call_end(call, 0);
}

/*
 * Makes one region obey its level for a type that was just described. If a thread sets another
 * level at this moment, either that thread sees the description, or this function sees the new
 * level and repeats.
 */
static void obey_level(struct ptx_region *region, unsigned type, int level)
{
	uint32_t max_level = atomic_load_explicit(&region->max_level, memory_order_seq_cst),
		 seen = 0;
	const uint64_t bit = UINT64_C(1) << type % 64;

	if (!max_level)
		return;
	/*
	 * The level may change between its load and the change of the bit. The loop then sets the
	 * bit again for the newer level.
	 */
	for (int tries = TRIES; max_level && max_level != seen && tries > 0; tries--) {
		seen = max_level;
		if ((uint32_t)level > max_level) {
			atomic_fetch_and_explicit(&region->admit[type / 64], ~bit,
						  memory_order_seq_cst);
		} else {
			atomic_fetch_or_explicit(&region->admit[type / 64], bit,
						 memory_order_seq_cst);
			ptx_silence_end(&ptx_own_control, type);
		}
		max_level = atomic_load_explicit(&region->max_level, memory_order_seq_cst);
	}
	ptx_arena_changed(&ptx_arena_self);
}

/*
 * Makes the region at this offset of the arena's file obey its level. The function does not use the
 * view of the stream: outside of a trace point, another thread may unmap a view at any time.
 * Instead the function maps the first page of the region for a moment. If the stream is shut down
 * meanwhile, the function changes a page of the file that no stream uses.
 */
static void obey_at(int fd, unsigned type, int level, uint64_t offset)
{
	uint32_t max_level;
	size_t got;
	void *page;

	/*
	 * The level is read before the page is mapped. Most streams have no level, and reading does
	 * not fill a hole in the file with a page.
	 */
	if (ptx_io_read_at(fd, &max_level, sizeof(max_level),
			   offset + offsetof(struct ptx_region, max_level), &got) ||
	    got != sizeof(max_level) || max_level == 0)
		return;
	page = mmap(NULL, PTX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (page == MAP_FAILED)
		return;
	obey_level(page, type, level);
	munmap(page, PTX_PAGE);
}

_Static_assert(offsetof(struct ptx_region, max_level) < PTX_PAGE, "the first page has it");

/*
 * If the arena has no file, only streams of this process itself can trace it, and their regions are
 * mapped here.
 */
static void apply_level_here(unsigned type, int level)
{
	trace_id_t ids[PTX_STREAMS];
	unsigned count = ptx_registry_active(ids, PTX_STREAMS);

	for (unsigned i = 0; i < count; i++) {
		struct ptx_stream *stream = ptx_stream_lock(ids[i], PTX_ACTIVE);

		if (!stream)
			continue;
		if (stream->drain->arena == &ptx_arena_self)
			obey_level(stream->view->rings.region, type, level);
		ptx_stream_unlock(stream);
	}
}

/*
 * Called after the description was published. Errors are ignored: a stream that cannot be mapped
 * here records too much.
 */
void ptx_level_described(unsigned type, int level)
{
	int fd = ptx_arena_fd(&ptx_arena_self);
	struct ptx_attachment_plan plan;

	if (fd < 0) {
		apply_level_here(type, level);
		return;
	}
	/* The reads of the regions below must come after the publication of the description. */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		/* acquire: the facts of the attachment are read after the word. */
		uint64_t word = atomic_load_explicit(&ptx_own_control.attachment[bit].word,
						     memory_order_acquire);

		if (ptx_attachment_state(word) == PTX_ATTACHMENT_ATTACHED &&
		    ptx_attachment_plan(&ptx_arena_self, bit, &plan))
			obey_at(fd, type, level, plan.offset);
	}
}
