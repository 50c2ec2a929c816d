/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/options.h"

#include <stdint.h>
#include <string.h>
#include <trace.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* The next word, its quotes taken away, written over the text; NULL at the end. */
static char *next_word(char **text)
{
	char *from = *text, *to, *word, quote = 0;

	while (is_blank(*from))
		from++;
	if (!*from)
		return NULL;
	for (word = to = from; *from && (quote || !is_blank(*from)); from++) {
		if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else if (*from == '\\' && from[1] && quote != '\'')
			*to++ = *++from;
		else
			*to++ = *from;
	}
	*text = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static bool read_size(const char *text, size_t *size)
{
	static const char units[] = "KMG";
	uint64_t value = 0;
	const char *unit;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	unit = *text ? strchr(units, *text == 'k' ? 'K' : *text) : NULL;
	if (*text && (!unit || (text[1] && strcmp(text + 1, "iB") != 0)))
		return false;
	for (const char *u = units; unit && u <= unit; u++)
		if (__builtin_mul_overflow(value, 1024, &value))
			return false;
	*size = value;
	return value != 0;
}

static bool read_policy(const char *text, int *policy, bool of_log)
{
	if (!strcmp(text, "loop"))
		*policy = POSIX_TRACE_LOOP;
	else if (!strcmp(text, "until-full"))
		*policy = POSIX_TRACE_UNTIL_FULL;
	else if (!strcmp(text, of_log ? "append" : "flush"))
		*policy = of_log ? POSIX_TRACE_APPEND : POSIX_TRACE_FLUSH;
	else
		return false;
	return true;
}

static const struct {
	const char *name;
	char letter, takes;
	bool has_value;
} known[] = {
	{ "--output", 'o', 'o', true },      { "--event", 'e', 'e', true },
	{ "--events", 0, 'e', true },        { "--size", 's', 's', true },
	{ "--trace", 0, 't', true },         { "--policy", 0, 'p', true },
	{ "--log-policy", 0, 'P', true },    { "--log-size", 0, 'S', true },
	{ "--verbose", 'v', 'v', false },
};

/* Which option word is, 0 for none; its value if it stands in the same word. */
static char recognize(char *word, char **value, bool *has_value)
{
	char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	*value = NULL;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		bool is_long = strlen(known[i].name) == len && !memcmp(word, known[i].name, len);
		bool is_short = word[0] == '-' && known[i].letter && word[1] == known[i].letter;

		if (!is_long && !is_short)
			continue;
		*has_value = known[i].has_value;
		if (is_long)
			*value = equals ? equals + 1 : NULL;
		else if (word[2])
			*value = word + 2;
		return known[i].takes;
	}
	return 0;
}

static bool take(struct shim_options *options, char what, const char *value)
{
	switch (what) {
	case 'o':
		options->output = value;
		return *value;
	case 't':
		options->families = value;
		return true;
	case 'e':
		if (options->globs == SHIM_OPTION_GLOBS)
			return false;
		options->glob[options->globs++] = value;
		return true;
	case 's':
		return read_size(value, &options->size);
	case 'S':
		return read_size(value, &options->log_size);
	case 'p':
		return read_policy(value, &options->policy, false);
	case 'P':
		return read_policy(value, &options->log_policy, true);
	case 'v':
		options->is_verbose = true;
		return true;
	}
	return false;
}

void shim_options_read(struct shim_options *options, const char *text)
{
	char *rest = options->text, *word, *value;
	bool has_value = false;

	memset(options, 0, offsetof(struct shim_options, text));
	options->is_given = text;
	if (!text)
		return;
	if (strlen(text) >= sizeof options->text) {
		options->wrong = "it is too long";
		options->word = "";
		return;
	}
	strcpy(options->text, text);
	while ((word = next_word(&rest)) != NULL) {
		char what = recognize(word, &value, &has_value);

		if (what && has_value && !value)
			value = next_word(&rest);
		if (!what)
			options->wrong = "there is no such option";
		else if (has_value && !value)
			options->wrong = "its value is missing";
		else if (!has_value && value)
			options->wrong = "it takes no value";
		else if (!take(options, what, value))
			options->wrong = "that is no value for it";
		else
			continue;
		options->word = word;
		return;
	}
}
