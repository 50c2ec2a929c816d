/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_frames.c - the names of the kernel's functions, from /proc/kallsyms. */
#include "live/kernel_frames.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/vec.h"
#include "log/stacks.h"

#define NAMES_FILE "/proc/kallsyms"

struct kernel_function {
	uint64_t begin;
	uint32_t name;     /* offset in kernel_frames.text */
	bool is_met;
};

struct kernel_frames {
	struct kernel_function *function; /* sorted by begin, each begin once */
	size_t functions;
	char *text;
	size_t texts;      /* bytes */
};

/* Returns whether this process may take samples in the kernel. */
static bool may_sample_kernel(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .disabled = 1, .exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

/*
 * Parses a line "ADDRESS KIND NAME [MODULE]". Returns the length of the name, and 0 if the line is
 * not that of a function. If the kernel hides the addresses, all of them are 0.
 */
static size_t parse_line(const char *line, uint64_t *begin, const char **name)
{
	char *end;

	errno = 0;
	*begin = strtoull(line, &end, 16);
	if (errno || end == line || *begin < STACKS_KERNEL || *end != ' ' || !end[1] ||
	    !strchr("tTwW", end[1]) || end[2] != ' ')
		return 0;
	*name = end + 3;
	return strcspn(*name, " \t\n");
}

const char *kernel_frames_refusal(void)
{
	const char *name, *reason = "kptr_restrict hides the addresses in " NAMES_FILE;
	char line[512];
	uint64_t begin;
	FILE *file;

	if (!may_sample_kernel())
		return "perf_event_paranoid is above 1";
	file = fopen(NAMES_FILE, "re");
	if (!file)
		return NAMES_FILE " cannot be read";
	/* Data may precede the first function, but not many symbols of it. */
	for (int i = 0; i < 1000 && fgets(line, sizeof(line), file); i++)
		if (parse_line(line, &begin, &name)) {
			reason = NULL;
			break;
		}
	fclose(file);
	return reason;
}

static int by_begin(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	/* If a function has several names, the first one in the file remains. */
	return (x->name > y->name) - (x->name < y->name);
}

/* Adds a function. Returns false without memory. */
static bool add_function(struct kernel_frames *frames, uint64_t begin, const char *name, size_t len)
{
	if (frames->texts > UINT32_MAX - len - 1 ||
	    !vec_grow(&frames->text, frames->texts, len + 1) ||
	    !vec_grow(&frames->function, frames->functions, 1))
		return false;
	frames->function[frames->functions++] = (struct kernel_function){
		.begin = begin, .name = (uint32_t)frames->texts,
	};
	memcpy(frames->text + frames->texts, name, len);
	frames->text[frames->texts + len] = '\0';
	frames->texts += len + 1;
	return true;
}

/* Sorts the functions, and keeps one name for each begin. */
static void sort_functions(struct kernel_frames *frames)
{
	size_t kept = 0;

	qsort(frames->function, frames->functions, sizeof(*frames->function), by_begin);
	for (size_t i = 0; i < frames->functions; i++)
		if (!kept || frames->function[kept - 1].begin != frames->function[i].begin)
			frames->function[kept++] = frames->function[i];
	frames->functions = kept;
}

struct kernel_frames *kernel_frames_begin(void)
{
	struct kernel_frames *frames;
	const char *name;
	char line[512];
	bool good = true;
	FILE *file;

	if (kernel_frames_refusal())
		return NULL;
	file = fopen(NAMES_FILE, "re");
	frames = file ? calloc(1, sizeof(*frames)) : NULL;
	while (frames && good && fgets(line, sizeof(line), file)) {
		uint64_t begin;
		size_t len = parse_line(line, &begin, &name);

		good = !len || add_function(frames, begin, name, len);
	}
	if (file)
		fclose(file);
	if (frames && (!good || !frames->functions)) {
		kernel_frames_end(frames);
		return NULL;
	}
	if (frames)
		sort_functions(frames);
	return frames;
}

void kernel_frames_end(struct kernel_frames *frames)
{
	if (!frames)
		return;
	free(frames->function);
	free(frames->text);
	free(frames);
}

/*
 * Returns the function that has an address, or NULL before the first function. The file has no ends
 * of functions, so a function reaches to the begin of the next one.
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
	return low ? &frames->function[low - 1] : NULL;
}

size_t kernel_frames_chain(struct kernel_frames *frames, const uint64_t *chain, uint64_t count,
			   uint64_t *to, size_t most)
{
	size_t length = 0;

	for (uint64_t i = 0; i < count && length < most; i++) {
		struct kernel_function *function;

		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		if (!stacks_is_kernel(chain[i])) {
			to[length++] = chain[i];
			continue;
		}
		if (!frames)
			continue;
		/* Only the innermost address is no return address. */
		function = function_at(frames, chain[i] - (length > 0));
		if (!function)
			continue;
		function->is_met = true;
		to[length++] = function->begin;
	}
	return length;
}

int kernel_frames_names(const struct kernel_frames *frames, struct posix_trace_composer_np *to)
{
	int err = 0;

	for (size_t i = 0; frames && !err && i < frames->functions; i++) {
		const struct kernel_function *function = &frames->function[i];
		struct posix_trace_object_np object = {
			.kind = POSIX_TRACE_OBJECT_OTHER_NP, .pointer = function->begin,
			.time_ns = 0,
		};

		if (!function->is_met)
			continue;
		/* A name that is too long loses its end. */
		snprintf(object.name, sizeof(object.name), "%s", frames->text + function->name);
		err = posix_trace_compose_object_np(to, &object);
	}
	return err;
}
