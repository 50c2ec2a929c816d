/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/image.h"
#include "preload/self.h"
#include "preload/shim.h"
#include "preload/text.h"

#define NAME    "LD_PRELOAD="
#define LIBRARY "libposixtrace-preload.so"

const char *shim_own_path[2];

/* Names in LD_PRELOAD are separated by these. */
static bool is_between(char c)
{
	return c == ':' || c == ' ';
}

static bool is_shim(const char *name, size_t len)
{
	const char *own = shim_own_path[1];
	size_t library = strlen(LIBRARY);

	if (own && strlen(own) == len && !memcmp(own, name, len))
		return true;
	return len >= library && !memcmp(name + len - library, LIBRARY, library) &&
	       (len == library || name[len - library - 1] == '/');
}

/* The shim's name in a value of LD_PRELOAD; its length goes to *len. Null: it is not there. */
static const char *find_shim(const char *value, size_t *len)
{
	while (*value) {
		for (*len = 0; value[*len] && !is_between(value[*len]);)
			++*len;
		if (is_shim(value, *len))
			return value;
		value += *len;
		while (is_between(*value))
			value++;
	}
	return NULL;
}

static bool has_shim(const char *variable)
{
	size_t len;

	return !strncmp(variable, NAME, strlen(NAME)) && find_shim(variable + strlen(NAME), &len);
}

/* Copies a value of LD_PRELOAD without the shim; to may be the value itself. */
static void copy_without(char *to, const char *value)
{
	char *begin = to;

	while (*value) {
		size_t len = 0;

		while (value[len] && !is_between(value[len]))
			len++;
		if (!is_shim(value, len)) {
			if (to > begin)
				*to++ = ':';
			memmove(to, value, len);
			to += len;
		}
		value += len;
		while (is_between(*value))
			value++;
	}
	*to = '\0';
}

/* Why that program cannot have the shim; null: it can, or that is not known. */
static const char *why_not(const struct shim_program *program)
{
	char loader[SHIM_LOADER_BYTES];

	switch (program->is_searched ? shim_image_find(program->path, getenv("PATH"), loader) :
				       shim_image_of(program->folder, program->path, loader)) {
	case SHIM_IMAGE_FOREIGN:
		return "other C library";
	case SHIM_IMAGE_MACHINE:
		return "other processor";
	case SHIM_IMAGE_UNKNOWN:
	case SHIM_IMAGE_GLIBC:
	case SHIM_IMAGE_STATIC:
		break;
	}
	for (int i = 0; i < 2; i++)
		if (shim_own_path[i] && shim_own_path[i][0] == '/' &&
		    shim_image_is_missing(shim_own_path[i]))
			return "no library there";
	return NULL;
}

static bool is_untraced(const struct shim_program *program, const void *caller)
{
	struct {
		int32_t pid;
		char text[SHIM_TEXT];
	} data;
	/* A filter may refuse the system calls by which the file is read. */
	const char *why = shim_is_quiet() ? NULL : why_not(program);
	size_t len;

	if (!why)
		return false;
	if (*shim_switch[PROCESS_UNTRACED] && shim_is_wanted(PROCESS_UNTRACED, caller)) {
		data.pid = shim_pid();
		len = shim_text(data.text, sizeof data.text / 2, why);
		len += shim_text_before(data.text + len, sizeof data.text - len, program->path);
		shim_put(PROCESS_UNTRACED, &data, 4 + len, caller);
	}
	return true;
}

size_t shim_environment_room(char *const envp[], struct shim_program program, const void *caller)
{
	size_t count = 0, bytes = 0;

	for (; envp && envp[count]; count++)
		if (has_shim(envp[count]))
			bytes += strlen(envp[count]) + 1;
	return bytes && is_untraced(&program, caller) ? (count + 1) * sizeof(*envp) + bytes : 0;
}

char *const *shim_environment_without(char *const envp[], void *room)
{
	char **without = room, *text;
	size_t count = 0, kept = 0;

	while (envp[count])
		count++;
	text = (char *)(without + count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!has_shim(envp[i])) {
			without[kept++] = envp[i];
			continue;
		}
		memcpy(text, NAME, strlen(NAME));
		copy_without(text + strlen(NAME), envp[i] + strlen(NAME));
		if (!text[strlen(NAME)])
			continue; /* it had the shim only */
		without[kept++] = text;
		text += strlen(text) + 1;
	}
	without[kept] = NULL;
	return without;
}

void shim_environment_for_shell(const void *caller)
{
	const struct shim_program shell = { AT_FDCWD, "/bin/sh", false };

	for (char **variable = environ; variable && *variable; variable++)
		if (has_shim(*variable)) {
			if (is_untraced(&shell, caller))
				copy_without(*variable + strlen(NAME), *variable + strlen(NAME));
			return;
		}
}
