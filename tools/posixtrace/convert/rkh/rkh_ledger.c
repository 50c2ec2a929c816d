/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_ledger.c - counts the missing events. Missing sequence numbers are only a lower bound. In the
 * dialect of posixtrace, the accounts have the exact number.
 *
 * Missing frames that arrived damaged are counted as DAMAGED. All other missing frames are counted
 * as OVERWRITTEN: they were overwritten before they were sent, or lost on the way.
 */
#include <string.h>

#include "convert/octets.h"
#include "convert/rkh/rkh_sink.h"
#include "convert/rkh/rkh_source.h"

#define WORDS      (2 + POSIX_TRACE_LOST_CAUSES_NP)
#define EVENTS_MAX (UINT64_C(1) << 48) /* greater counts are damage */

/* Passes a loss with the interval of the gap. */
static bool pass_loss(struct rkh_source *source, int cause, uint64_t count)
{
	struct rkh_missing *missing = &source->missing;
	struct fmt_lost lost = {
		.cause = cause, .counted = true, .count = count,
		.has_interval = missing->has_interval,
		.begin_ns = missing->begin_ns, .end_ns = missing->end_ns,
	};

	return !count || fmt_lost(source->flow, &lost);
}

/* Passes "count" frames or events as losses. Afterwards source->missing is empty. */
static bool pass_missing(struct rkh_source *source, uint64_t count)
{
	struct rkh_missing *missing = &source->missing;
	uint64_t damaged = missing->damaged < count ? missing->damaged : count;
	bool go = pass_loss(source, POSIX_TRACE_LOST_DAMAGED_NP, damaged) &&
		  pass_loss(source, POSIX_TRACE_LOST_OVERWRITTEN_NP, count - damaged);

	*missing = (struct rkh_missing){ 0 };
	return go;
}

/*
 * Several gaps before the next account become one interval, which lasts from the event before the
 * first gap to the event after the last gap.
 */
bool rkh_ledger_gap(struct rkh_source *source, uint64_t frames, uint64_t damaged, int64_t end_ns)
{
	struct rkh_missing *missing = &source->missing;

	missing->frames += frames;
	missing->damaged += damaged < frames ? damaged : frames;
	if (!missing->has_interval || end_ns > missing->end_ns)
		missing->end_ns = end_ns;
	if (!missing->has_interval)
		missing->begin_ns = source->time_ns < end_ns ? source->time_ns : end_ns;
	missing->has_interval = true;
	/*
	 * In the dialect of posixtrace, the losses are passed later, with the exact number in the
	 * next account.
	 */
	return source->decoder.dialect == RKH_DIALECT_PTX || pass_missing(source, missing->frames);
}

/*
 * Called at the end of the input and at each new configuration. If accounts have arrived, one
 * account must be marked as the last account. Without this mark, events after the latest account
 * may be missing.
 */
bool rkh_ledger_end(struct rkh_source *source)
{
	struct rkh_account *account = &source->account;
	bool go = pass_missing(source, source->missing.frames);

	if ((account->any || source->wants_accounts) && !account->last)
		fmt_fault(
			source->flow, FMT_DAMAGED, FMT_NO_OFFSET, "end",
			"the sender's last account is missing: events behind event %llu may be "
			"missing, too",
			(unsigned long long)account->sent);
	*account = (struct rkh_account){ 0 };
	return go;
}

/*
 * Returns whether these items are an account, which is a number of 4 bytes and then numbers of 8
 * bytes.
 */
static bool read_account(const struct rkh_source *source, const unsigned char *items, size_t len,
			 uint64_t *word, size_t *words)
{
	struct rkh_item item;
	size_t at = 0;
	int more;

	*words = 0;
	while ((more = rkh_item(&source->decoder.config, true, items, len, &at, &item)) > 0) {
		if (item.type != (*words ? RKH_U64 : RKH_UI32))
			return false;
		if (*words < WORDS)
			word[*words] = octets_get(item.value, (unsigned)item.len, false);
		++*words;
	}
	return !more && *words >= 2;
}

/* Returns false if a count is impossibly great, because the account is then damaged. */
static bool is_possible(const uint64_t *word)
{
	for (size_t i = 1; i < WORDS; i++)
		if (word[i] > EVENTS_MAX)
			return false;
	return true;
}

/*
 * The number of sent events minus the number of received events is the number of missing events.
 * For losses at the sender, only the growth since the last account is passed, by cause.
 */
bool rkh_ledger_account(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
			const char *name, bool *is_one)
{
	struct rkh_account *account = &source->account;
	uint64_t word[WORDS] = { 0 }, known;
	size_t words;
	bool go = true;

	/*
	 * The frame with the name of the type may be missing. Therefore an account whose type has
	 * no name is recognized by its form.
	 */
	*is_one = (!name || !strcmp(name, RKH_ACCOUNT)) && !frame->raw &&
		  read_account(source, frame->args + at, frame->len - at, word, &words) &&
		  (name || words == WORDS);
	if (!*is_one)
		return true;
	if (!is_possible(word)) {
		fmt_fault(source->flow, FMT_DAMAGED, frame->offset, "record",
			  "an account with impossible numbers");
		return true;
	}
	account->any = true;
	account->last = word[0] & RKH_ACCOUNT_LAST;
	known = account->received + account->lost;
	if (word[1] > known) {
		go = pass_missing(source, word[1] - known);
		account->lost = word[1] - account->received;
	} else {
		/* according to the account, the missing frames had no events */
		source->missing = (struct rkh_missing){ 0 };
	}
	account->sent = word[1];
	for (int i = 0; go && i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		if (word[2 + i] <= account->at_sender[i])
			continue;
		go = pass_loss(source, i, word[2 + i] - account->at_sender[i]);
		account->at_sender[i] = word[2 + i];
	}
	return go;
}
