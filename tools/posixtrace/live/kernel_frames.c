/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_frames.c - the names of the kernel's functions, from /proc/kallsyms. */
#include "live/kernel_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "base/perf.h"
#include "base/vec.h"
#include "log/stacks.h"

#define NAMES_FILE "/proc/kallsyms"

#define STEP       8192 /* the lines that one look reads */
/*
 * From DUE kept stacks on, each look reads a part of the names. If at least URGENT stacks wait for
 * names, one look reads the whole file.
 */
#define DUE        4096
#define URGENT     (STACK_MOST / 4)
/*
 * An address that is LONGEST bytes or more behind the begin of a function has no name, because it
 * may be in a gap between modules.
 */
#define LONGEST    (UINT64_C(1) << 20)
#define UNKNOWN    STACKS_KERNEL /* replaces each address that is in no function */
#define RAW        (UINT32_C(1) << 31) /* marks the number of a stack without names */
#define NO_NAME    UINT32_MAX

struct kernel_function {
	uint64_t begin;
	/* offset in kernel_frames.text; NO_NAME: data, at which the function before it ends */
	uint32_t name;
	bool is_met;
};

struct kernel_frames {
	struct kernel_function *function; /* sorted by begin, each begin once, when is_read */
	size_t functions;
	char *text;
	size_t texts;      /* bytes */
	FILE *file;        /* NULL: not yet open, or is_read */
	char *line;
	size_t line_bytes;
	bool is_read, has_unknown;
};

/* Returns the error number by which the kernel refuses samples of its own code, or 0. */
static int try_kernel(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .disabled = 1, .exclude_hv = 1,
	};

	return perf_try(&attr, 0);
}

/*
 * Parses a line "ADDRESS KIND NAME [MODULE]". Returns the length of the name, and 0 if the line has
 * another form. *is_function is true if the symbol is a function.
 */
static size_t parse_line(const char *line, uint64_t *begin, const char **name, bool *is_function)
{
	size_t digits = strspn(line, "0123456789abcdef");

	if (!digits || digits > 16 || line[digits] != ' ' || !line[digits + 1] ||
	    line[digits + 2] != ' ')
		return 0;
	*begin = strtoull(line, NULL, 16);
	*is_function = strchr("tTwW", line[digits + 1]) != NULL;
	*name = line + digits + 3;
	return strcspn(*name, " \t\n");
}

/*
 * The address of the first function of the file decides, because the kernel hides either no address
 * or all of them, as 0. Data may precede the first function, with small numbers instead of
 * addresses.
 */
const char *kernel_frames_refusal(void)
{
	const char *name, *reason = "kptr_restrict hides the addresses in " NAMES_FILE;
	int err = try_kernel();
	bool is_function = false;
	char *line = NULL;
	size_t bytes = 0;
	uint64_t begin;
	FILE *file;

	if (err)
		return err == EACCES || err == EPERM ? "perf_event_paranoid is above 1" :
						       "perf_event_open(2) fails";
	file = fopen(NAMES_FILE, "re");
	if (!file)
		return NAMES_FILE " cannot be read";
	while (!is_function && getline(&line, &bytes, file) > 0)
		if (!parse_line(line, &begin, &name, &is_function))
			is_function = false;
	if (is_function && stacks_is_kernel(begin))
		reason = NULL;
	else if (!is_function)
		reason = NAMES_FILE " has no functions";
	free(line);
	fclose(file);
	return reason;
}

struct kernel_frames *kernel_frames_begin(void)
{
	return kernel_frames_refusal() ? NULL : calloc(1, sizeof(struct kernel_frames));
}

void kernel_raw_fini(struct kernel_raw *raw)
{
	stack_store_fini(&raw->store);
	free(raw->number);
	*raw = (struct kernel_raw){ .numbers = 0 };
}

void kernel_frames_end(struct kernel_frames *frames)
{
	if (!frames)
		return;
	if (frames->file)
		fclose(frames->file);
	free(frames->line);
	free(frames->function);
	free(frames->text);
	free(frames);
}

/* ------------------------------------------------------------------ the names */

static int by_begin(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	/* If a function has several names, the first one in the file remains. */
	return (x->name > y->name) - (x->name < y->name);
}

/* Adds a function, or data if "name" is NULL. Returns false if memory is lacking. */
static bool add_symbol(struct kernel_frames *frames, uint64_t begin, const char *name, size_t len)
{
	uint32_t at = NO_NAME;

	if (!vec_grow(&frames->function, frames->functions, 1))
		return false;
	if (name) {
		if (frames->texts >= NO_NAME - len - 1 ||
		    !vec_grow(&frames->text, frames->texts, len + 1))
			return false;
		at = (uint32_t)frames->texts;
		memcpy(frames->text + at, name, len);
		frames->text[at + len] = '\0';
		frames->texts += len + 1;
	}
	frames->function[frames->functions++] = (struct kernel_function){
		.begin = begin, .name = at,
	};
	return true;
}

/* Ends the reading: sorts the symbols, and keeps one name for each begin. */
static void sort_functions(struct kernel_frames *frames)
{
	size_t kept = 0;

	qsort(frames->function, frames->functions, sizeof(*frames->function), by_begin);
	for (size_t i = 0; i < frames->functions; i++)
		if (!kept || frames->function[kept - 1].begin != frames->function[i].begin)
			frames->function[kept++] = frames->function[i];
	frames->functions = kept;
	frames->is_read = true;
}

/*
 * Reads at most the given number of lines, and returns whether more may follow. A line that has
 * another form is ignored. If memory is lacking, the functions that were read are used.
 */
static bool read_lines(struct kernel_frames *frames, size_t lines)
{
	bool good = true;

	for (; lines && good && getline(&frames->line, &frames->line_bytes, frames->file) > 0;
	     lines--) {
		bool is_function;
		const char *name;
		uint64_t begin;
		size_t len = parse_line(frames->line, &begin, &name, &is_function);

		if (len && begin > UNKNOWN)
			good = add_symbol(frames, begin, is_function ? name : NULL, len);
	}
	if (good && !lines)
		return true;
	sort_functions(frames);
	return false;
}

/* Reads at most the given number of lines of the kernel's file. */
static void read_part(struct kernel_frames *frames, size_t lines)
{
	if (frames->is_read)
		return;
	if (!frames->file && !(frames->file = fopen(NAMES_FILE, "re"))) {
		frames->is_read = true;
		return;
	}
	if (read_lines(frames, lines))
		return;
	fclose(frames->file);
	frames->file = NULL;
}

void kernel_frames_look(struct kernel_frames *frames, const struct kernel_raw *raw)
{
	if (frames && raw->store.stacks >= DUE)
		read_part(frames, raw->store.stacks < URGENT ? STEP : SIZE_MAX);
}

/*
 * Returns the function that has an address, or NULL if none has it. The file has no ends of
 * functions, so a function reaches to the begin of the next symbol.
 */
static struct kernel_function *function_at(struct kernel_frames *frames, uint64_t address)
{
	size_t low = 0, high = frames->functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frames->function[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && frames->function[low - 1].name != NO_NAME &&
	       address - frames->function[low - 1].begin < LONGEST ?
	       &frames->function[low - 1] : NULL;
}

/* ------------------------------------------------------------------ the stacks */

/*
 * Copies a chain without the marks of the kernel, and without the kernel's addresses if
 * keeps_kernel is false. Returns the number of addresses; has_kernel is set if one of them is the
 * kernel's.
 */
static size_t copy_chain(const uint64_t *chain, uint64_t count, bool keeps_kernel,
			 uint64_t to[STACK_FRAMES], bool *has_kernel)
{
	size_t length = 0;

	*has_kernel = false;
	for (uint64_t i = 0; i < count && length < STACK_FRAMES; i++) {
		bool is_kernel = stacks_is_kernel(chain[i]);

		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX || (is_kernel && !keeps_kernel))
			continue;
		*has_kernel |= is_kernel;
		to[length++] = chain[i];
	}
	return length;
}

/* Replaces the addresses of the kernel by begins of functions. */
static void name_chain(struct kernel_frames *frames, uint64_t *chain, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		struct kernel_function *function;

		if (!stacks_is_kernel(chain[i]))
			continue;
		/*
		 * All addresses but the innermost are return addresses, so the call is before them.
		 */
		function = function_at(frames, chain[i] - (i > 0));
		chain[i] = function ? function->begin : UNKNOWN;
		if (function)
			function->is_met = true;
		else
			frames->has_unknown = true;
	}
}

uint32_t kernel_frames_keep(struct kernel_frames *frames, struct kernel_raw *raw,
			    struct stack_store *store, const uint64_t *chain, uint64_t count)
{
	uint64_t copy[STACK_FRAMES];
	bool has_kernel;
	size_t length = copy_chain(chain, count, frames != NULL, copy, &has_kernel);
	uint32_t number;

	if (has_kernel && !frames->is_read) {
		number = stack_store_keep(&raw->store, copy, length);
		if (number != STACK_NONE)
			return number | RAW;
		/* There is no room for further stacks without names. */
		read_part(frames, SIZE_MAX);
	}
	if (has_kernel)
		name_chain(frames, copy, length);
	return stack_store_keep(store, copy, length);
}

void kernel_frames_complete(struct kernel_frames *frames, struct kernel_raw *raw,
			    struct stack_store *store)
{
	const size_t known = raw->numbers;

	if (!frames || raw->store.stacks == known)
		return;
	read_part(frames, SIZE_MAX);
	if (!vec_grow(&raw->number, known, raw->store.stacks - known))
		return;
	for (size_t i = known; i < raw->store.stacks; i++) {
		const struct stack *stack = &raw->store.stack[i];
		uint64_t *chain = raw->store.frame + stack->first;

		name_chain(frames, chain, stack->count);
		raw->number[i] = stack_store_keep(store, chain, stack->count);
	}
	raw->numbers = raw->store.stacks;
}

uint32_t kernel_frames_number(const struct kernel_raw *raw, uint32_t number)
{
	if (number == STACK_NONE || !(number & RAW))
		return number;
	number &= ~RAW;
	return number < raw->numbers ? raw->number[number] : STACK_NONE;
}

/* Writes one name. A name that is too long loses its end. */
static int put_name(struct posix_trace_composer_np *to, uint64_t begin, const char *name)
{
	struct posix_trace_object_np object = {
		.kind = POSIX_TRACE_OBJECT_OTHER_NP, .pointer = begin, .time_ns = 0,
	};

	snprintf(object.name, sizeof(object.name), "%s", name);
	return posix_trace_compose_object_np(to, &object);
}

int kernel_frames_names(const struct kernel_frames *frames, struct posix_trace_composer_np *to)
{
	int err = frames && frames->has_unknown ? put_name(to, UNKNOWN, "unknown") : 0;

	for (size_t i = 0; frames && !err && i < frames->functions; i++)
		if (frames->function[i].is_met)
			err = put_name(to, frames->function[i].begin,
				       frames->text + frames->function[i].name);
	return err;
}
