/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "soak/estate.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "soak/memory.h"

static unsigned long arena_pages(pid_t pid)
{
	char path[64];
	struct stat st;

	/* Returns the first descriptor of this kind. */
	snprintf(path, sizeof(path), "/proc/%d/fd/200", (int)pid);
	return stat(path, &st) == 0 ? (unsigned long)st.st_blocks / 8 : 0;
}

struct estate estate_of(pid_t pid)
{
	struct estate estate = { .arena = arena_pages(pid) };
	char path[64];
	FILE *file;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	list = opendir(path);
	while (list && readdir(list))
		estate.descriptors++;
	if (list)
		closedir(list);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "r");
	for (int c; file && (c = fgetc(file)) != EOF;)
		estate.mappings += c == '\n';
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lu %lu", &estate.size, &estate.resident) != 2) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	fclose(file);
	return estate;
}

static bool is_within(unsigned long before, unsigned long after, unsigned long bound)
{
	return after <= before + bound;
}

bool estate_is_as_before(const struct estate *before, const struct estate *after,
			 unsigned long heap)
{
	return after->descriptors == before->descriptors && after->mappings == before->mappings &&
	       (!MEMORY_IS_OURS || (is_within(before->size, after->size, heap) &&
				    is_within(before->resident, after->resident, MEMORY_BOUND))) &&
	       is_within(before->arena, after->arena, ARENA_BOUND);
}

void estate_tell(const char *whose, const struct estate *before, const struct estate *after)
{
	printf(" %s: descriptors=%u->%u mappings=%u->%u size_pages=%lu->%lu "
	       "resident_pages=%lu->%lu arena_pages=%lu->%lu",
	       whose, before->descriptors, after->descriptors, before->mappings, after->mappings,
	       before->size, after->size, before->resident, after->resident, before->arena,
	       after->arena);
}
