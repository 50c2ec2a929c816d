/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/text.h"

#define TEXT_PATH 4200
#define INPUT_MAX (16u << 20)

struct reader {
	FILE *file;
	const char *path;
	struct text_bytes *out;
	size_t at;
};

static bool put(struct reader *reader, uint8_t byte)
{
	struct text_bytes *out = reader->out;

	if (reader->at >= INPUT_MAX)
		return false;
	while (reader->at >= out->room) {
		out->room = 2 * out->room + 4096;
		out->bytes = realloc(out->bytes, out->room);
		if (!out->bytes)
			abort();
	}
	while (out->size <= reader->at)
		out->bytes[out->size++] = 0;
	out->bytes[reader->at++] = byte;
	return true;
}

static bool put_number(struct reader *reader, const char *token)
{
	char *end;
	unsigned long bytes = strtoul(token, &end, 10);
	uint64_t value;

	if (*end != ':' || bytes < 1 || bytes > sizeof(value))
		return false;
	value = strtoull(end + 1, &end, 0);
	if (*end)
		return false;
	for (unsigned long i = 0; i < bytes; i++)
		if (!put(reader, (uint8_t)(value >> 8 * i)))
			return false;
	return true;
}

static bool put_hex(struct reader *reader, const char *token)
{
	unsigned long byte = strtoul(token, NULL, 16), times = 1;
	char *end = NULL;

	if (token[2] == '*')
		times = strtoul(token + 3, &end, 10);
	if (end ? *end != '\0' : token[2] != '\0')
		return false;
	while (times--)
		if (!put(reader, (uint8_t)byte))
			return false;
	return true;
}

static bool put_word(struct reader *reader, const char *token)
{
	for (const struct fuzz_word *w = fuzz_words; w->word; w++)
		if (strcmp(w->word, token) == 0)
			return put(reader, w->byte);
	return false;
}

static const char *below_tests(const char *name, char path[TEXT_PATH])
{
	const char *top = getenv("top_srcdir");

	snprintf(path, TEXT_PATH, "%s/tests/%s", top ? top : ".", name);
	return path;
}

static bool read_named(struct reader *reader, const char *name);

static bool include(struct reader *reader, const char *name)
{
	char path[TEXT_PATH];
	struct reader inner = { .path = below_tests(name, path), .out = reader->out };

	inner.at = reader->at;
	if (!read_named(&inner, name))
		return false;
	reader->at = inner.at;
	return true;
}

static bool do_token(struct reader *reader, const char *token)
{
	char *end;

	switch (token[0]) {
	case '=':
		return include(reader, token + 1);
	case '@':
		reader->at = strtoul(token + 1, &end, 0);
		return token[1] && !*end;
	case '!':
		if (reader->out->size > reader->at)
			reader->out->size = reader->at;
		return !token[1];
	}
	if (strchr(token, ':'))
		return put_number(reader, token);
	if (isxdigit((unsigned char)token[0]) && isxdigit((unsigned char)token[1]) &&
	    (!token[2] || token[2] == '*'))
		return put_hex(reader, token);
	return put_word(reader, token);
}

static bool read_token(struct reader *reader, int c)
{
	char token[300];
	size_t len = 0;

	for (; c != EOF && !isspace(c) && c != '#' && c != '"'; c = getc(reader->file)) {
		if (len == sizeof(token) - 1)
			return false;
		token[len++] = (char)c;
	}
	ungetc(c, reader->file);
	token[len] = '\0';
	if (do_token(reader, token))
		return true;
	fprintf(stderr, "%s: byte %zu: what is '%s'?\n", reader->path, reader->at, token);
	return false;
}

static bool read_quoted(struct reader *reader)
{
	int c;

	while ((c = getc(reader->file)) != '"')
		if (c == EOF || !put(reader, (uint8_t)c))
			return false;
	return true;
}

static bool read_all(struct reader *reader)
{
	int c;

	while ((c = getc(reader->file)) != EOF) {
		if (isspace(c))
			continue;
		if (c == '#') {
			while (c != '\n' && c != EOF)
				c = getc(reader->file);
		} else if (c == '"') {
			if (!read_quoted(reader))
				return false;
		} else if (!read_token(reader, c)) {
			return false;
		}
	}
	return true;
}

static bool read_as_it_is(struct reader *reader)
{
	int c;

	while ((c = getc(reader->file)) != EOF)
		if (!put(reader, (uint8_t)c))
			return false;
	return true;
}

static bool read_named(struct reader *reader, const char *name)
{
	size_t len = strlen(name);
	bool good;

	reader->file = fopen(reader->path, "re");
	if (!reader->file) {
		perror(reader->path);
		return false;
	}
	if (len > 4 && strcmp(name + len - 4, ".hex") == 0)
		good = read_all(reader);
	else
		good = read_as_it_is(reader);
	fclose(reader->file);
	return good;
}

bool text_read(const char *path, struct text_bytes *out)
{
	struct reader reader = { .path = path, .out = out };

	return read_named(&reader, path);
}

static void write_run(FILE *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0, column = 0; i < size; column++) {
		size_t n = 1;

		while (i + n < size && bytes[i + n] == bytes[i])
			n++;
		if (column % 16 == 0)
			fputs(column ? "\n\t" : "\t", out);
		if (n > 2)
			fprintf(out, "%02x*%zu ", bytes[i], n);
		else
			fprintf(out, "%02x ", bytes[i]);
		i += n > 2 ? n : 1;
	}
	fputc('\n', out);
}

void text_write(FILE *out, const uint8_t *bytes, size_t size, const char *base)
{
	struct text_bytes of = { 0 };
	char path[TEXT_PATH];

	if (!base || !text_read(below_tests(base, path), &of)) {
		write_run(out, bytes, size);
		free(of.bytes);
		return;
	}
	fprintf(out, "=%s\n", base);
	for (size_t i = 0, n; i < size; i += n) {
		bool same = i < of.size && bytes[i] == of.bytes[i];

		for (n = 1; i + n < size; n++)
			if ((i + n < of.size && bytes[i + n] == of.bytes[i + n]) != same)
				break;
		if (same)
			continue;
		fprintf(out, "@%#zx", i);
		write_run(out, bytes + i, n);
	}
	if (size < of.size)
		fprintf(out, "@%#zx !\n", size);
	free(of.bytes);
}
