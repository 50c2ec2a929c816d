/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/options.c - parses POSIXTRACE_OPTIONS.
 *
 * The parser runs in the shim's constructor, perhaps before the constructors of other libraries, so
 * it uses neither malloc() nor getopt(). It copies the text and writes each word over this copy.
 * The options then point to these words.
 */
#include "preload/options.h"

#include <stdint.h>
#include <string.h>
#include <trace.h>

/* The copy of the text. It is not in struct shim_options, because few programs need it. */
static char copy[SHIM_OPTION_BYTES];

/* Returns whether a character separates words, as in a shell. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Returns the next word of the text without its quotes, or NULL at the end. The word is written
 * over the text. It fits, because a word is never longer than its text with quotes.
 */
static char *next_word(char **text)
{
	char *from = *text, *to, *word, quote = 0;

	while (is_blank(*from))
		from++;
	if (!*from)
		return NULL;
	/* If a quote is not closed, the quoted part ends at the end of the text. */
	for (word = to = from; *from && (quote || !is_blank(*from)); from++) {
		if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		/*
		 * A backslash keeps its meaning inside of double quotes, but not inside of single
		 * quotes, as in a shell.
		 */
		else if (*from == '\\' && from[1] && quote != '\'')
			*to++ = *++from;
		else
			*to++ = *from;
	}
	*text = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

/*
 * Reads a size in bytes with an optional unit: 64K, 4M, 1GiB. Returns false if there is another
 * character, or if the number is 0 or too large.
 */
static bool read_size(const char *text, size_t *size)
{
	static const char units[] = "KMG";
	uint64_t value = 0;
	const char *unit;

	/* A sign or a blank is not part of a number. */
	if (*text < '0' || *text > '9')
		return false;
	/* A number that does not fit is refused. */
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	unit = *text ? strchr(units, *text == 'k' ? 'K' : *text) : NULL;
	/* "KiB" means the same as "K". */
	if (*text && (!unit || (text[1] && strcmp(text + 1, "iB") != 0)))
		return false;
	/* Each unit is 1024 times the unit before it. */
	for (const char *u = units; unit && u <= unit; u++)
		if (__builtin_mul_overflow(value, 1024, &value))
			return false;
	*size = value;
	return value != 0;
}

/*
 * Reads the policy of a stream, or of a log if of_log is true. `loop` and `until-full` exist for
 * both. Returns false if the text is no such policy.
 */
static bool read_policy(const char *text, int *policy, bool of_log)
{
	/* The words are those of the options of posixtrace record. */
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

/*
 * The options of posixtrace record that the shim supports: name, short letter, the code for
 * set_option(), and whether there is a value.
 */
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

/*
 * Recognizes an option and returns its code; 0: there is no such option. *value is the value if the
 * value is part of the same word, as in --size=1M or -s1M, and else NULL.
 */
static char options_recognize(char *word, char **value, bool *has_value)
{
	char *equals = strchr(word, '=');
	/* A long option ends at its '='. */
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	*value = NULL;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		/*
		 * A long option must be spelled in full; an abbreviation could become ambiguous
		 * in a later version.
		 */
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

/*
 * Stores an option. Returns false if the value is not valid. Sizes and policies are checked here,
 * families and patterns where they are used.
 */
static bool set_option(struct shim_options *options, char what, const char *value)
{
	/* The cases are the codes of the table above. */
	switch (what) {
	case 'o':
		options->output = value;
		return *value;
	case 't':
		options->families = value;
		return true;
	case 'e':
		/* If there is no room for another pattern, the option is refused. */
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

/*
 * The first fault ends the parsing, so that the message names one word. Options before it have been
 * stored. The caller then uses only is_verbose, which decides whether it prints the message.
 */
void shim_options_read(struct shim_options *options, const char *text)
{
	char *rest = copy, *word, *value;
	bool has_value = false;

	memset(options, 0, sizeof *options);
	options->is_given = text;
	if (!text)
		return;
	if (strlen(text) >= sizeof copy) {
		options->wrong = "it is too long";
		options->word = "";
		return;
	}
	strcpy(copy, text);
	while ((word = next_word(&rest)) != NULL) {
		char what = options_recognize(word, &value, &has_value);

		/* The value is the next word. */
		if (what && has_value && !value)
			value = next_word(&rest);
		if (!what)
			options->wrong = "there is no such option";
		else if (has_value && !value)
			options->wrong = "its value is missing";
		else if (!has_value && value)
			options->wrong = "it takes no value";
		else if (!set_option(options, what, value))
			options->wrong = "that is no value for it";
		else
			continue;
		options->word = word;
		return;
	}
}
