/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/damaged.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"
#include "unit/log/sample.h"

static uint64_t hash(uint64_t h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Reads the lines of dump --json, without the time difference, which depends on the line before. */
static struct lines read_lines(void)
{
	static const char delta[] = ",\"delta_ns\":\"", damage[] = ",\"after_damage\":true";
	struct text text = read_file(in_directory("out"));
	struct lines lines = { NULL, 0 };
	size_t room = 0;

	for (char *p = text.bytes, *end; *p; p = end + 1) {
		uint64_t h = UINT64_C(0xcbf29ce484222325);
		char *cut;

		end = strchr(p, '\n');
		ck_assert_msg(end, "a line without its end");
		*end = '\0';
		cut = strstr(p, delta);
		ck_assert_msg(cut, "no time from event to event: %s", p);
		h = hash(h, p, (size_t)(cut - p));
		p = strchr(cut + sizeof(delta) - 1, '"');
		cut = strstr(p, damage);
		if (cut) {
			h = hash(h, p, (size_t)(cut - p));
			p = cut + sizeof(damage) - 1;
		}
		h = hash(h, p, strlen(p));
		if (lines.count == room) {
			room = room ? 2 * room : 1024;
			lines.hash = realloc(lines.hash, room * sizeof(*lines.hash));
			ck_assert_ptr_nonnull(lines.hash);
		}
		lines.hash[lines.count++] = h;
	}
	free(text.bytes);
	return lines;
}

bool is_in_order(const struct lines *some, const struct lines *all)
{
	size_t i = 0;

	for (size_t j = 0; i < some->count && j < all->count; j++)
		i += some->hash[i] == all->hash[j];
	return i == some->count;
}

bool is_beginning(const struct lines *some, const struct lines *all)
{
	return some->count <= all->count &&
	       (!some->count || !memcmp(some->hash, all->hash, some->count * sizeof(*all->hash)));
}

static size_t number_after(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	ck_assert_msg(p, "no %s in %s", name, text);
	return strtoul(p + strlen(name), NULL, 10);
}

/* Checks that standard error has only lines of the tool, without control characters. */
static void assert_messages(const struct text *err)
{
	for (const char *p = err->bytes; *p; p = strchr(p, '\n') + 1) {
		ck_assert_msg(!strncmp(p, "posixtrace: ", 12) || !strncmp(p, "WARNING: ", 9),
			      "standard error says %s", p);
		ck_assert_ptr_nonnull(strchr(p, '\n'));
	}
	for (size_t i = 0; i < err->len; i++)
		ck_assert_msg((unsigned char)err->bytes[i] >= 32 || err->bytes[i] == '\n',
			      "a control character in %s", err->bytes);
}

/* Checks that standard error has a line "posixtrace: FILE:OFFSET: REASON" for each fault. */
static void assert_place(const struct text *err, const char *log, size_t log_len)
{
	char prefix[4300];
	const char *p;
	char *end;

	snprintf(prefix, sizeof(prefix), "posixtrace: %s:", log);
	for (p = err->bytes; (p = strstr(p, prefix)); p++) {
		size_t offset = strtoul(p + strlen(prefix), &end, 10);

		if (end > p + strlen(prefix) && !strncmp(end, ": ", 2)) {
			ck_assert_msg(offset <= log_len, "a fault past the end: %s", p);
			return;
		}
	}
	ck_abort_msg("the message has no place: %s", err->bytes);
}

struct verdict verify(const char *log, size_t log_len, const char *what, size_t where)
{
	struct verdict verdict = { .status = posixtrace("verify", "--", log) };
	struct text err = read_file(in_directory("err")), out = read_file(in_directory("out"));

	assert_messages(&err);
	switch (verdict.status) {
	case 0:
		ck_assert_msg(!err.len, "%s at %zu: sound, but: %s", what, where, err.bytes);
		break;
	case 1:
		ck_assert_msg(err.len, "%s at %zu: no log, and not a word", what, where);
		break;
	case 3:
		ck_assert_msg(err.len, "%s at %zu: damaged, and not a word", what, where);
		if (!out.len || !strstr(out.bytes, ", 0 faults\n"))
			assert_place(&err, log, log_len);
		break;
	default:
		ck_abort_msg("%s at %zu: verify says %d: %s", what, where, verdict.status,
			     err.bytes);
	}
	if (out.len) {
		verdict.events = number_after(out.bytes, strstr(out.bytes, " 1 block, ") ?
							 " block, " : " blocks, ");
		verdict.told = true;
	}
	free(err.bytes);
	free(out.bytes);
	return verdict;
}

struct lines dump(const char *log, const struct verdict *verdict, const struct sound *sound,
		  const char *what, size_t where)
{
	int status = posixtrace("dump", "--json", log);
	struct text err = read_file(in_directory("err"));
	struct lines lines = read_lines();

	assert_messages(&err);
	ck_assert_msg(status == verdict->status ||
		      (!status && verdict->status == 3 && lines.count == sound->lines.count),
		      "%s at %zu: verify says %d, dump %d: %s", what, where, verdict->status,
		      status, err.bytes);
	ck_assert_msg(!status || err.len, "%s at %zu: dump says %d and not a word", what, where,
		      status);
	if (verdict->told)
		ck_assert_msg(lines.count == verdict->events,
			      "%s at %zu: verify finds %zu events, dump %zu", what, where,
			      verdict->events, lines.count);
	free(err.bytes);
	return lines;
}

struct sound sound_make(enum sound_kind kind, uint64_t events)
{
	struct sound sound;
	const char *path = in_directory("sound.log");
	struct text out;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	if (kind == SOUND_BLOCKS)
		sample_make_frozen(fd, POSIX_TRACE_APPEND, 0, 64, events, 100);
	else
		sample_make_frozen(fd, POSIX_TRACE_LOOP, 65536, 64, events, 1000);
	close(fd);
	sound.log = read_file(path);
	ck_assert_int_eq(posixtrace("verify", "--", path), 0);
	out = read_file(in_directory("out"));
	sound.blocks = number_after(out.bytes, "sound: ");
	free(out.bytes);
	ck_assert_int_eq(posixtrace("dump", "--json", path), 0);
	sound.lines = read_lines();
	ck_assert_uint_ge(sound.blocks, 8);
	ck_assert_uint_ge(sound.lines.count, 1000);
	return sound;
}

void sound_free(struct sound *sound)
{
	free(sound->log.bytes);
	free(sound->lines.hash);
}
