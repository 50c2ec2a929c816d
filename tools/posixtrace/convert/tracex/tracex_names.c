/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_names.c - reads and writes the side file with the names of user events. An import reads
 * the side file that the user names. If this file has an error, the command prints the file's name
 * and the line, and fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "convert/tracex/tracex_names.h"

#define PARTS 13 /* number, name, abbreviation, two colours of three parts each, four labels */
#define NAMES_MAX 65536

/* Removes white space at both ends of a text, in place. */
static char *tracex_names_trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/*
 * Divides the line into its parts, in place. Returns NULL or the reason of an error. Parts behind
 * the first PARTS are ignored.
 */
static const char *tracex_names_split(char *line, char *part[PARTS])
{
	size_t parts = 0;

	for (char *rest = line; rest && parts < PARTS; parts++) {
		part[parts] = tracex_names_trim(strsep(&rest, ","));
		if (!*part[parts])
			return "an empty part";
	}
	return parts < PARTS ? "fewer than 13 parts" : NULL;
}

/*
 * Parses the line of an event. Returns NULL or the reason of an error. Labels are shortened to the
 * size of name->info.
 */
static const char *tracex_names_parse(char *line, struct tracex_name *name)
{
	char *part[PARTS], *end;
	const char *wrong = tracex_names_split(line, part);
	unsigned long id;

	if (wrong)
		return wrong;
	errno = 0;
	id = strtoul(part[0], &end, 0);
	if (errno || *end || part[0][0] < '0' || part[0][0] > '9' || id > 65535)
		return "no event number";
	if (strlen(part[1]) > TRACE_EVENT_NAME_MAX)
		return "a name of more than 63 bytes";
	memset(name, 0, sizeof(*name));
	name->id = (uint32_t)id;
	strcpy(name->name, part[1]);
	for (int i = 0; i < 4; i++)
		snprintf(name->info[i], sizeof(name->info[i]), "%s", part[9 + i]);
	return NULL;
}

static int tracex_names_add(struct tracex_names *names, const struct tracex_name *name)
{
	struct tracex_name *more;

	if (!vec_grow(&names->name, names->count, 1))
		return ENOMEM;
	more = names->name;
	more[names->count++] = *name;
	return 0;
}

/*
 * Reads the lines between Start and End, and ignores all others. Returns NULL or the reason of an
 * error. After an error, *number is the number of the line.
 */
static const char *read_lines(struct tracex_names *names, FILE *file, size_t *number)
{
	char line[1024];
	bool inside = false, begun = false;

	for (*number = 1; fgets(line, sizeof(line), file); ++*number) {
		struct tracex_name name;
		const char *wrong;

		if (!strchr(line, '\n') && !feof(file))
			return "the line is too long";
		if (!inside || !strcmp(tracex_names_trim(line), "End")) {
			inside = !strcmp(tracex_names_trim(line), "Start");
			begun = begun || inside;
			continue;
		}
		if (!*tracex_names_trim(line))
			continue;
		wrong = tracex_names_parse(line, &name);
		if (wrong)
			return wrong;
		if (names->count == NAMES_MAX)
			return "more names than there are event numbers";
		if (tracex_names_add(names, &name))
			return strerror(ENOMEM);
	}
	if (ferror(file))
		return strerror(errno);
	return begun ? NULL : "a line Start before the names is missing";
}

int tracex_names_read(struct tracex_names *names, const char *path)
{
	FILE *file = fopen(path, "re");
	const char *wrong;
	size_t line;

	if (!file) {
		say("%s: %s", path, strerror(errno));
		return TOOL_FAILURE;
	}
	wrong = read_lines(names, file, &line);
	fclose(file);
	if (!wrong)
		return TOOL_OK;
	say("%s:%zu: %s", path, line, wrong);
	return TOOL_FAILURE;
}

void tracex_names_free(struct tracex_names *names)
{
	free(names->name);
	names->name = NULL;
	names->count = 0;
}

/* The function is called only once for each event id, so a linear search is enough. */
const struct tracex_name *tracex_names_find(const struct tracex_names *names, uint32_t id)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->name[i].id == id)
			return &names->name[i];
	return NULL;
}

/* The format has no quotes, so a separator in a name becomes _. */
void tracex_names_put(struct out *out, uint32_t id, const char *name, size_t name_len)
{
	char shown[TRACE_EVENT_NAME_MAX + 1], brief[4] = "";
	size_t len = name_len < TRACE_EVENT_NAME_MAX ? name_len : TRACE_EVENT_NAME_MAX;

	for (size_t i = 0; i < len; i++)
		shown[i] = strchr(",\r\n", name[i]) ? '_' : name[i];
	if (!len)
		shown[len++] = '?';
	shown[len] = '\0';
	/* The abbreviation consists of the first three visible ASCII characters. */
	for (size_t i = 0, n = 0; i < len && n < 3; i++)
		if (shown[i] > ' ' && shown[i] < 0x7f)
			brief[n++] = shown[i];
	out_printf(out, "%u, %s, %s, (192,220,255), (0,0,0), I1, I2, I3, I4\n", id, shown,
		   *brief ? brief : "?");
}
