/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * config.c - reads the file of the configuration. It parses lines and sections, and checks whole
 * sections. It prints all faults of a file, not only the first.
 */
#include "agent/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"

#define INTERVAL_NS INT64_C(1000000000)
#define HOLD_OFF_NS INT64_C(10000000000)
#define QUOTA	    (UINT64_C(256) << 20)
#define SIZE	    ((size_t)1 << 20)

/*
 * A message that is longer than the buffer loses its end. Only a hostile file can cause such a long
 * message. say() escapes unsafe characters.
 */
void config_fault(struct config_place *place, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say("%s:%u: %s", place->config->path, place->line, text);
	place->failed = true;
}

/* Frees the words of a list, but not the struct, which is a part of its section. */
static void words_free(struct config_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
}

/* Frees a section, which may be incomplete: members that were not set are NULL. */
static void record_free(struct config_record *record)
{
	free(record->name);
	words_free(&record->executable);
	words_free(&record->user);
	free(record->uid);
	words_free(&record->cgroup);
	words_free(&record->unit);
	free(record->families);
	words_free(&record->event);
	words_free(&record->exclude);
	free(record->text);
	free(record);
}

/* Frees a section [trigger], which may be incomplete, too. */
static void trigger_free(struct config_trigger *trigger)
{
	free(trigger->name);
	words_free(&trigger->record);
	free(trigger->when_text);
	free(trigger->pattern);
	free(trigger->rule);
	free(trigger);
}

double config_budget(const struct config *config, const struct config_record *record)
{
	double budget = record->budget ? record->budget : config->budget;

	return budget > 0 ? budget : 0;
}

/*
 * A recorder uses the configuration with which it began as long as it exists, because its plan has
 * pointers to the strings of this configuration.
 */
struct config *config_use(struct config *config)
{
	config->users++;
	return config;
}

/*
 * The functions that read a configuration also call this function if it has faults. Its only user
 * then is this call.
 */
void config_drop(struct config *config)
{
	if (!config || --config->users)
		return;
	for (size_t i = 0; i < config->records; i++)
		record_free(config->record[i]);
	for (size_t i = 0; i < config->triggers; i++)
		trigger_free(config->trigger[i]);
	free(config->record);
	free(config->trigger);
	free(config->folder);
	free(config->textfile);
	free(config->listen);
	free(config);
}

/* fnmatch() is called without FNM_PATHNAME, so that * in a pattern also matches slashes. */
bool config_matches(const struct config_words *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!fnmatch(patterns->word[i], text, 0))
			return true;
	return !patterns->count;
}

/*
 * A name is unique in a configuration, because begin_record() refuses a second section of the same
 * name.
 */
const struct config_record *config_record_of(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->records; i++)
		if (!strcmp(config->record[i]->name, name))
			return config->record[i];
	return NULL;
}

/*
 * Returns whether the text may be the name of a section. Such names become labels of metrics and
 * parts of file names. A name must not contain a dot, because dots separate the parts of a file
 * name.
 */
static bool is_name(const char *text)
{
	size_t len =
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return len && len <= CONFIG_NAME_MAX && !text[len] && text[0] != '-';
}

/*
 * Opens a section [record NAME] with the default values. After a fault no section is open, and the
 * following keys are skipped.
 */
static void begin_record(struct config_place *place, const char *name)
{
	struct config *config = place->config;
	const struct config_record *same = config_record_of(config, name);
	struct config_record *record;

	if (same) {
		config_fault(place, "[record %s]: line %u has a section of this name already", name,
			     same->line);
		return;
	}
	record = calloc(1, sizeof(*record));
	if (record)
		record->name = strdup(name);
	if (!record || !record->name || !vec_grow(&config->record, config->records, 1)) {
		config_fault(place, "%s", strerror(ENOMEM));
		if (record)
			record_free(record);
		return;
	}
	record->line = place->line;
	record->size = SIZE;
	config->record[config->records++] = place->record = record;
}

/* Opens a section [trigger NAME] with the default values. After a fault no section is open. */
static void begin_trigger(struct config_place *place, const char *name)
{
	struct config *config = place->config;
	struct config_trigger *trigger;

	for (size_t i = 0; i < config->triggers; i++)
		if (!strcmp(config->trigger[i]->name, name)) {
			config_fault(place,
				     "[trigger %s]: line %u has a section of this name already",
				     name, config->trigger[i]->line);
			return;
		}
	trigger = calloc(1, sizeof(*trigger));
	if (trigger)
		trigger->name = strdup(name);
	if (!trigger || !trigger->name || !vec_grow(&config->trigger, config->triggers, 1)) {
		config_fault(place, "%s", strerror(ENOMEM));
		if (trigger)
			trigger_free(trigger);
		return;
	}
	trigger->line = place->line;
	trigger->hold_off_ns = HOLD_OFF_NS;
	config->trigger[config->triggers++] = place->trigger = trigger;
}

/*
 * Begins a section. "text" is the text between the brackets of the line "[KIND NAME]". The name may
 * be in quotes. After a fault no section is open, and the following keys are skipped without
 * messages.
 */
static void begin_section(struct config_place *place, char *text)
{
	char *name = text + strcspn(text, " \t");
	size_t len;

	config_keys_begin();
	if (*name)
		*name++ = '\0';
	name += strspn(name, " \t");
	len = strlen(name);
	if (len > 1 && name[0] == '"' && name[len - 1] == '"') {
		name[len - 1] = '\0';
		name++;
	}
	if (!strcmp(text, "agent")) {
		if (*name)
			config_fault(place, "[agent %s]: expected [agent], which has no name",
				     name);
		else if (place->config->agent_line)
			config_fault(place, "[agent]: line %u has this section already",
				     place->config->agent_line);
		else
			place->in_agent = true;
		if (!place->config->agent_line)
			place->config->agent_line = place->line;
	} else if (strcmp(text, "record") && strcmp(text, "trigger")) {
		config_fault(place,
			     "[%s]: no such section; there are [agent], [record NAME] and "
			     "[trigger NAME]",
			     text);
	} else if (!*name) {
		config_fault(place, "[%s] needs a name, as in [%s web]", text, text);
	} else if (!is_name(name)) {
		config_fault(place, "[%s %s]: a name has letters, digits, _ and -, at most %d",
			     text, name, CONFIG_NAME_MAX);
	} else if (!strcmp(text, "record")) {
		begin_record(place, name);
	} else {
		begin_trigger(place, name);
	}
}

/* Removes blanks at both ends, in place. */
static char *trim_text(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* Processes a line. *in_section is true if a valid or invalid line "[...]" precedes the line. */
static void take_line(struct config_place *place, char *line, bool *in_section)
{
	char *value;

	line = trim_text(line);
	if (!*line || *line == '#' || *line == ';')
		return;
	if (*line == '[') {
		size_t len = strlen(line);

		*in_section = true;
		place->record = NULL;
		place->trigger = NULL;
		place->in_agent = false;
		if (line[len - 1] != ']') {
			config_fault(place, "%s: there is no ] at the end", line);
			return;
		}
		line[len - 1] = '\0';
		begin_section(place, trim_text(line + 1));
		return;
	}
	if (!*in_section) {
		config_fault(place, "%s: no section, such as [agent], begins before this key",
			     line);
		return;
	}
	value = strchr(line, '=');
	if (!value || value == line) {
		config_fault(place, "%s: expected key = value", line);
		return;
	}
	*value++ = '\0';
	config_key(place, trim_text(line), trim_text(value));
}

/* Reads the file into memory and adds a NUL. Returns NULL after it printed an error. */
static char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	char *text = NULL;
	ssize_t n;

	*len = 0;
	if (fd < 0 || fstat(fd, &st)) {
		say("%s: %s", text_given(path), say_strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		say("%s: %s", path, S_ISDIR(st.st_mode) ? say_strerror(EISDIR) : "not a file");
		goto out;
	}
	/*
	 * The size of the file may change during the reading, so the function does not ask for the
	 * size. It reads at most one byte more than the limit. If it gets this additional byte, the
	 * file is too large.
	 */
	text = malloc(CONFIG_BYTES_MAX + 1);
	while (text && *len <= CONFIG_BYTES_MAX) {
		n = read(fd, text + *len, CONFIG_BYTES_MAX + 1 - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			say("%s: %s", path, say_strerror(errno));
			free(text);
			text = NULL;
			goto out;
		}
		if (!n)
			break;
		*len += (size_t)n;
	}
	if (!text) {
		say("%s: %s", path, strerror(ENOMEM));
	} else if (*len > CONFIG_BYTES_MAX) {
		say("%s: larger than %u bytes", path, CONFIG_BYTES_MAX);
		free(text);
		text = NULL;
	} else {
		text[*len] = '\0';
	}
out:
	if (fd >= 0)
		close(fd);
	return text;
}

/*
 * Checks that each section has its required keys. Faults are printed with the line at which the
 * section begins.
 */
static void check_sections(struct config_place *place)
{
	struct config *config = place->config;

	for (size_t i = 0; i < config->records; i++) {
		const struct config_record *record = config->record[i];

		place->line = record->line;
		if (!record->executable.count && !record->user.count && !record->cgroup.count &&
		    !record->unit.count)
			config_fault(place,
				     "[record %s] has none of executable, user, cgroup and "
				     "unit, and would record every process",
				     record->name);
	}
	for (size_t i = 0; i < config->triggers; i++) {
		const struct config_trigger *trigger = config->trigger[i];
		bool is_used = false;

		place->line = trigger->line;
		if (!trigger->has_when)
			config_fault(place, "[trigger %s] has no key when", trigger->name);
		for (size_t k = 0; k < config->records; k++)
			is_used |= config_matches(&trigger->record, config->record[k]->name);
		if (!is_used && config->records)
			config_fault(place,
				     "[trigger %s]: its key record matches the name of no section "
				     "[record NAME]",
				     trigger->name);
	}
	place->line = config->agent_line ? config->agent_line : 1;
	if (!config->agent_line)
		config_fault(place, "the section [agent] with the key folder is missing");
	else if (!config->folder)
		config_fault(place, "the section [agent] has no key folder");
	place->line = 1;
	if (!config->records)
		config_fault(place,
			     "there is no section [record NAME], so nothing would be recorded");
}

/*
 * The pointer "path" is kept for messages. No copy is needed, because "path" is an argument of the
 * command line. Sections are checked after the last line, because a trigger may name a section that
 * is behind it.
 */
static struct config *read_config(const char *path, bool is_client)
{
	struct config_place place = { .line = 0 };
	bool in_section = false;
	size_t len;
	char *text = read_file(path, &len), *line, *end;

	if (!text)
		return NULL;
	place.config = calloc(1, sizeof(*place.config));
	if (!place.config) {
		say("%s: %s", path, strerror(ENOMEM));
		free(text);
		return NULL;
	}
	*place.config = (struct config){
		.users = 1, .path = path, .interval_ns = INTERVAL_NS, .quota = QUOTA
	};
	config_keys_begin();
	/*
	 * The line end of each line is replaced by a NUL, so that the line is a string. If the last
	 * line has no line end, the NUL behind the text ends it.
	 */
	for (line = text; line < text + len; line = end + 1) {
		size_t bytes;

		place.line++;
		end = memchr(line, '\n', (size_t)(text + len - line));
		if (!end)
			end = text + len;
		*end = '\0';
		bytes = strlen(line);
		if (line + bytes != end)
			config_fault(&place, "the line has a NUL");
		else if (bytes > CONFIG_LINE_MAX)
			config_fault(&place, "the line has more than %d bytes", CONFIG_LINE_MAX);
		else
			take_line(&place, line, &in_section);
	}
	free(text);
	check_sections(&place);
	/* A relative folder is a fault. A client would look for it in its own present folder. */
	if (!place.failed ||
	    (is_client && place.config->folder && *place.config->folder == '/'))
		return place.config;
	config_drop(place.config);
	return NULL;
}

struct config *config_read(const char *path)
{
	return read_config(path, false);
}

struct config *config_read_client(const char *path)
{
	return read_config(path, true);
}
