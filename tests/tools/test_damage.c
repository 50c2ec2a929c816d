/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/test_damage.c - posixtrace on logs that were cut and logs with a bit turned over.
 *
 * What must hold for every damaged log: verify and dump end by themselves, with a status of the
 * table; who does not say 0 says why on standard error, for damage with the place; dump says 0 only
 * with every event; each line that it prints is a line of the sound log, in the sound log's order;
 * dump and verify find the same number of events; and only what the damage touches is missing.
 *
 * The damage is random with a fixed seed; POSIXTRACE_TEST_CUTS, _FLIPS and _SEED change it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/payload.h"
#include "support/support.h"
#include "tools/run_tool.h"

#define LISTS_BYTES  8192
#define HEADER_BYTES 4096 /* FORMAT 2 */
#define CLOSING_AT   3584 /* behind it a checksum of its own */
#define PAGE_BYTES   512
#define VERSION_END  10   /* magic and version: without them it is no log at all */

struct lines {
	uint64_t *hash;
	size_t count;
};

struct sound { /* the log before the damage, and what dump says of it */
	struct text log;
	struct lines lines;
	size_t blocks;
};

static uint64_t hash(uint64_t h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* The lines of dump --json, without what depends on the line before: the distance in time. */
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

static bool is_in_order(const struct lines *some, const struct lines *all)
{
	size_t i = 0;

	for (size_t j = 0; i < some->count && j < all->count; j++)
		i += some->hash[i] == all->hash[j];
	return i == some->count;
}

static bool is_beginning(const struct lines *some, const struct lines *all)
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

/* Standard error is lines of ours, and control characters are in none of them. */
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

/* "posixtrace: FILE:OFFSET: REASON" is there, for each fault. */
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
	ck_abort_msg("no place is told: %s", err->bytes);
}

struct verdict {
	int status;
	size_t events;
	bool told; /* with the number of events: it could be opened */
};

static struct verdict verify(const char *log, size_t log_len, const char *what, size_t where)
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
		verdict.events = number_after(out.bytes, " blocks, ");
		verdict.told = true;
	}
	free(err.bytes);
	free(out.bytes);
	return verdict;
}

/* What dump does not read, such as the index, may be damaged as long as no event is missing. */
static struct lines dump(const char *log, const struct verdict *verdict,
			 const struct sound *sound, const char *what, size_t where)
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

static struct sound make(const char *kind, const char *events)
{
	struct sound sound;
	const char *path = in_directory("sound.log");
	struct text out;

	make_log(kind, path, events);
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

static void sound_free(struct sound *sound)
{
	free(sound->log.bytes);
	free(sound->lines.hash);
}

static uint64_t setting(const char *name, uint64_t usual)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : usual;
}

/* Offsets in order, so that more of the log can never show less of it. */
static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

START_TEST(a_log_cut_anywhere_shows_its_beginning)
{
	struct sound sound = make("blocks", "3000");
	size_t cuts = setting("POSIXTRACE_TEST_CUTS", 200), shown = 0;
	uint64_t state = setting("POSIXTRACE_TEST_SEED", 4711);
	size_t *cut = malloc(cuts * sizeof(*cut));
	/* Blocks are about alike: more than two of them are never missing at the end. Before the first there are
	 * names and what is mapped, which is more where more libraries are. */
	size_t slack = 2 * (sound.log.len / sound.blocks) + HEADER_BYTES + LISTS_BYTES;
	const char *path = in_directory("cut.log");

	for (size_t i = 0; i < cuts; i++)
		cut[i] = random_between(&state, 0, sound.log.len - 1);
	qsort(cut, cuts, sizeof(*cut), by_size);
	for (size_t i = 0; i < cuts; i++) {
		struct verdict verdict;
		struct lines lines;
		size_t least;

		write_file(path, sound.log.bytes, cut[i]);
		verdict = verify(path, cut[i], "cut", cut[i]);
		ck_assert_int_eq(verdict.status, cut[i] < HEADER_BYTES ? 1 : 3);
		lines = dump(path, &verdict, &sound, "cut", cut[i]);
		ck_assert_msg(is_beginning(&lines, &sound.lines), "cut at %zu: other events",
			      cut[i]);
		least = cut[i] < slack ? 0 :
			(size_t)((double)sound.lines.count * (double)(cut[i] - slack) /
				 (double)sound.log.len);
		ck_assert_msg(lines.count >= least, "cut at %zu of %zu: %zu events, not %zu",
			      cut[i], sound.log.len, lines.count, least);
		ck_assert_msg(lines.count >= shown, "cut at %zu: less than of less", cut[i]);
		shown = lines.count;
		free(lines.hash);
	}
	ck_assert_uint_gt(shown, sound.lines.count / 2);
	free(cut);
	sound_free(&sound);
}
END_TEST

static struct verdict turn_bit(const struct sound *sound, size_t bit, struct lines *lines)
{
	const char *path = in_directory("flipped.log");
	char *byte = &sound->log.bytes[bit / 8];
	struct verdict verdict;

	*byte ^= (char)(1 << bit % 8);
	write_file(path, sound->log.bytes, sound->log.len);
	*byte ^= (char)(1 << bit % 8);
	verdict = verify(path, sound->log.len, "bit", bit);
	ck_assert_msg(verdict.told || bit / 8 < VERSION_END, "bit %zu hides every event", bit);
	*lines = dump(path, &verdict, sound, "bit", bit);
	ck_assert_msg(is_in_order(lines, &sound->lines), "bit %zu: other events", bit);
	if (!verdict.status || (verdict.told && bit / 8 < HEADER_BYTES))
		ck_assert_msg(lines->count == sound->lines.count, "bit %zu: %zu events", bit,
			      lines->count);
	return verdict;
}

/* A log that loops has slots that are not in use: most of its pages are empty. */
static bool is_in_use(const struct sound *sound, size_t at)
{
	size_t end = (at | (PAGE_BYTES - 1)) + 1;

	for (at &= ~(size_t)(PAGE_BYTES - 1); at < end && at < sound->log.len; at++)
		if (sound->log.bytes[at])
			return true;
	return false;
}

/* Of a hundred turned bits, verify finds at least percent: the others hit what has no meaning. */
static void turn_bits(const struct sound *sound, size_t flips, size_t percent)
{
	uint64_t state = setting("POSIXTRACE_TEST_SEED", 4711);
	size_t largest = 2 * sound->lines.count / sound->blocks;
	size_t found = 0;

	for (size_t i = 0; i < flips; i++) {
		struct verdict verdict;
		struct lines lines;
		size_t bit;

		do
			bit = random_between(&state, 0, 8 * sound->log.len - 1);
		while (!is_in_use(sound, bit / 8));
		verdict = turn_bit(sound, bit, &lines);

		if (verdict.told)
			ck_assert_msg(lines.count + largest >= sound->lines.count,
				      "bit %zu of %zu: %zu events of %zu", bit,
				      8 * sound->log.len, lines.count, sound->lines.count);
		found += verdict.status != 0;
		free(lines.hash);
	}
	ck_assert_uint_gt(found, flips * percent / 100);
}

START_TEST(a_turned_bit_costs_one_block_and_is_found)
{
	struct sound sound = make("blocks", "3000");

	turn_bits(&sound, setting("POSIXTRACE_TEST_FLIPS", 2000), 98);
	sound_free(&sound);
}
END_TEST

START_TEST(a_turned_bit_in_a_log_that_loops_costs_one_block)
{
	struct sound sound = make("loop", "5000");

	/* The last page of a slot is in use in part. */
	turn_bits(&sound, setting("POSIXTRACE_TEST_FLIPS", 2000) / 8, 70);
	sound_free(&sound);
}
END_TEST

/* Where the fields are, each byte; in what is spare, some. */
static void turn_bits_of_header(const char *kind)
{
	struct sound sound = make(kind, kind[0] == 'l' ? "5000" : "2000");

	for (size_t at = 0; at < CLOSING_AT; at += at < 456 ? 1 : 61) {
		struct lines lines;
		struct verdict verdict = turn_bit(&sound, 8 * at + at % 8, &lines);
		struct text err = read_file(in_directory("err"));

		ck_assert_int_eq(verdict.status, at < VERSION_END ? 1 : 3);
		ck_assert_msg(strstr(err.bytes,
				     at < 8 ? "this is not a trace log" :
				     at < VERSION_END ? "another major version, or its header is" :
				     ".log:0: the header's checksum is wrong"),
			      "byte %zu: dump says %s", at, err.bytes);
		free(err.bytes);
		free(lines.hash);
	}
	sound_free(&sound);
}

START_TEST(no_turned_bit_of_the_header_costs_an_event)
{
	turn_bits_of_header("blocks");
}
END_TEST

START_TEST(no_turned_bit_of_the_header_of_a_log_that_loops_costs_an_event)
{
	turn_bits_of_header("loop");
}
END_TEST

/*
 * Bytes of one place over bytes of another: blocks that are valid where they do not belong. verify
 * counts what it finds in whole blocks; of two blocks with the same events dump shows one.
 */
START_TEST(a_block_in_the_wrong_place_is_found_and_no_event_comes_twice)
{
	struct sound sound = make("blocks", "3000");
	uint64_t state = setting("POSIXTRACE_TEST_SEED", 4711);
	const char *path = in_directory("moved.log");

	for (size_t i = 0; i < 100; i++) {
		size_t len = random_between(&state, 1, 20000) & ~(size_t)7;
		size_t from = random_between(&state, 0, sound.log.len - len) & ~(size_t)7;
		size_t to = random_between(&state, HEADER_BYTES, sound.log.len - len) & ~(size_t)7;
		char *bytes = malloc(sound.log.len);
		bool changed;
		struct verdict verdict;
		struct lines lines;

		memcpy(bytes, sound.log.bytes, sound.log.len);
		memmove(bytes + to, bytes + from, len);
		write_file(path, bytes, sound.log.len);
		changed = memcmp(bytes, sound.log.bytes, sound.log.len);
		verdict = verify(path, sound.log.len, "copy to", to);
		verdict.told = false;
		lines = dump(path, &verdict, &sound, "copy to", to);
		ck_assert_msg(verdict.status == (changed ? 3 : 0), "copy to %zu: verify says %d",
			      to, verdict.status);
		ck_assert_msg(lines.count <= verdict.events, "copy to %zu: dump finds more", to);
		ck_assert_msg(is_in_order(&lines, &sound.lines), "copy to %zu: other events", to);
		free(lines.hash);
		free(bytes);
	}
	sound_free(&sound);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("posixtrace on damaged logs", &tc);

	find_programs();
	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_set_timeout(tc, 1800);
	tcase_add_test(tc, a_log_cut_anywhere_shows_its_beginning);
	tcase_add_test(tc, a_turned_bit_costs_one_block_and_is_found);
	tcase_add_test(tc, a_turned_bit_in_a_log_that_loops_costs_one_block);
	tcase_add_test(tc, no_turned_bit_of_the_header_costs_an_event);
	tcase_add_test(tc, no_turned_bit_of_the_header_of_a_log_that_loops_costs_an_event);
	tcase_add_test(tc, a_block_in_the_wrong_place_is_found_and_no_event_comes_twice);
	return suite;
}

SUITE_MAIN_OF(build)
