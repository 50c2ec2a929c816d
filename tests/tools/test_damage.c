/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/test_damage.c - posixtrace with logs whose end is missing, and logs with a changed bit.
 *
 * Rules for every damaged log: verify and dump end by themselves, with an exit status that the
 * manual describes. If the status is not 0, standard error has the reason, and for damage the
 * offset. dump returns 0 only if it prints every event. Each line that dump prints is a line of the
 * sound log, and the order is the same. dump and verify find the same number of events. Only the
 * damaged events are missing.
 *
 * The logs have the same bytes in each run, and the damage is random with a fixed seed;
 * POSIXTRACE_TEST_CUTS, _FLIPS and _SEED change it.
 */
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/support.h"
#include "tools/damaged.h"

#define LISTS_BYTES  8192
#define HEADER_BYTES 4096 /* see log/FORMAT 2 */
#define CLOSING_AT   3584 /* the header's closing area; it has a checksum of its own */
#define PAGE_BYTES   512
#define VERSION_END  10   /* the end of magic and version, without which a file is no log */

static uint64_t setting(const char *name, uint64_t usual)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : usual;
}

/* Orders the lengths of the logs, because the test asserts that a longer log never has fewer events
 * than a shorter one. */
static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

START_TEST(a_log_cut_anywhere_shows_its_beginning)
{
	struct sound sound = sound_make(SOUND_BLOCKS, 3000);
	size_t cuts = setting("POSIXTRACE_TEST_CUTS", 200), shown = 0;
	uint64_t state = setting("POSIXTRACE_TEST_SEED", 4711);
	size_t *cut = malloc(cuts * sizeof(*cut));
	/*
	 * Blocks have about the same size, so at most two blocks of events are missing at the end.
	 * The blocks of names and mappings precede the first block of events. They are larger if
	 * the program has more libraries.
	 */
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

/* Returns whether a page has data. Most pages of a LOOP log are empty, because slots are unused. */
static bool is_in_use(const struct sound *sound, size_t at)
{
	size_t end = (at | (PAGE_BYTES - 1)) + 1;

	for (at &= ~(size_t)(PAGE_BYTES - 1); at < end && at < sound->log.len; at++)
		if (sound->log.bytes[at])
			return true;
	return false;
}

/*
 * Changes bits at random places. verify must find at least this percentage of them. The others may
 * be in unused bytes.
 */
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
	struct sound sound = sound_make(SOUND_BLOCKS, 3000);

	turn_bits(&sound, setting("POSIXTRACE_TEST_FLIPS", 2000), 98);
	sound_free(&sound);
}
END_TEST

START_TEST(a_turned_bit_in_a_log_that_loops_costs_one_block)
{
	struct sound sound = sound_make(SOUND_LOOP, 5000);

	/* Only a part of the last used page of a slot is in use, so verify finds fewer bits. */
	turn_bits(&sound, setting("POSIXTRACE_TEST_FLIPS", 2000) / 8, 70);
	sound_free(&sound);
}
END_TEST

/* Changes a bit in every byte of the header's fields, and in some of its unused bytes. */
static void turn_bits_of_header(enum sound_kind kind)
{
	struct sound sound = sound_make(kind, kind == SOUND_LOOP ? 5000 : 2000);

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
	turn_bits_of_header(SOUND_BLOCKS);
}
END_TEST

START_TEST(no_turned_bit_of_the_header_of_a_log_that_loops_costs_an_event)
{
	turn_bits_of_header(SOUND_LOOP);
}
END_TEST

/*
 * Copies bytes from one place to another, so that there are valid blocks at wrong places. verify
 * counts the events of all valid blocks. If two blocks have the same events, dump prints only one.
 */
START_TEST(a_block_in_the_wrong_place_is_found_and_no_event_comes_twice)
{
	struct sound sound = sound_make(SOUND_BLOCKS, 3000);
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
