/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_options.c - the options of the source "rkh". --cfg and --dialect are for streams that lack
 * their configuration.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "convert/rkh/rkh_source.h"

#define FRAME_MAX (UINT64_C(1) << 24)

struct size_key {
	const char *name;
	size_t offset;
};

struct flag_key {
	const char *name;
	uint32_t flag;
};

static const struct size_key size_keys[] = {
	{ "sig", offsetof(struct rkh_config, sig) },
	{ "ts", offsetof(struct rkh_config, ts) },
	{ "ptr", offsetof(struct rkh_config, ptr) },
	{ "fun", offsetof(struct rkh_config, fun) },
	{ "ntimer", offsetof(struct rkh_config, ntimer) },
	{ "nblock", offsetof(struct rkh_config, nblock) },
	{ "nelem", offsetof(struct rkh_config, nelem) },
	{ "esize", offsetof(struct rkh_config, esize) },
	{ "bsize", offsetof(struct rkh_config, bsize) },
};

static const struct flag_key flag_keys[] = {
	{ "nseq", RKH_HAS_NUMBER }, { "tstamp", RKH_HAS_TIME }, { "chk", RKH_HAS_SUM },
	{ "sender", RKH_HAS_SENDER }, { "lwmark", RKH_HAS_QUEUE_MARK },
	{ "lwm", RKH_HAS_POOL_MARK },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sets one key of --cfg. Returns false for an unknown key or a wrong value. */
static bool set_key(struct rkh_decoder *decoder, const char *key, unsigned long value)
{
	struct rkh_config *config = &decoder->config;

	for (size_t i = 0; i < COUNT(size_keys); i++) {
		if (strcmp(key, size_keys[i].name))
			continue;
		if (value != 1 && value != 2 && value != 4 && value != 8)
			return false;
		*(unsigned *)(void *)((char *)config + size_keys[i].offset) = (unsigned)value;
		if (!strcmp(key, "fun"))
			decoder->fun = (unsigned)value;
		return true;
	}
	for (size_t i = 0; i < COUNT(flag_keys); i++) {
		if (strcmp(key, flag_keys[i].name))
			continue;
		if (value > 1)
			return false;
		config->flags &= ~flag_keys[i].flag;
		config->flags |= value ? flag_keys[i].flag : 0;
		return true;
	}
	if (strcmp(key, "hz") || value > UINT32_MAX)
		return false;
	config->hz = (uint32_t)value;
	return true;
}

/* Reads --cfg. If the key "fun" is not given, function pointers have the size of other pointers. */
static bool read_pairs(struct rkh_decoder *decoder, const char *given)
{
	char *text = strdup(given), *rest = text, *pair;
	bool good = text;

	while (good && (pair = strsep(&rest, ","))) {
		char *value = strchr(pair, '='), *end = NULL;
		unsigned long number;

		/* The test is necessary because strtoul() would also accept a sign or a blank. */
		if (!value || value[1] < '0' || value[1] > '9') {
			good = false;
			break;
		}
		*value++ = '\0';
		number = strtoul(value, &end, 10);
		good = !*end && set_key(decoder, pair, number);
	}
	free(text);
	if (good && !decoder->fun)
		decoder->config.fun = decoder->config.ptr;
	if (!good)
		say("--cfg %s: expected pairs KEY=NUMBER, with the keys sig, ts, ptr, fun, "
		    "ntimer, nblock, nelem, esize and bsize (1, 2, 4 or 8), nseq, tstamp, chk, "
		    "sender, lwmark and lwm (0 or 1), and hz",
		    given);
	return good;
}

/* If the option is given several times, all rules apply in their order. */
static int read_filter(struct rkh_source *source)
{
	const char *rules;

	for (size_t i = 0; (rules = fmt_option_at(source->flow, "filter", i)); i++) {
		int err = 0;

		if (!source->filter)
			source->filter = rkh_filter_new();
		err = source->filter ? rkh_filter_add(source->filter, rules) : ENOMEM;
		if (err == EINVAL) {
			say("--filter %s: expected pass or drop, and all, GROUP, GROUP.*, "
			    "GROUP.NAME, ao=NAME or sig=NAME; several with commas between",
			    rules);
			return TOOL_USAGE;
		}
		if (err)
			return fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL,
					 "no memory");
	}
	return TOOL_OK;
}

/*
 * --cfg sets the sizes that are valid before the first TCFG. A TCFG of the stream replaces them.
 * source->data is large enough for the data of the longest frame.
 */
int rkh_source_open(struct rkh_source *source)
{
	static const char *const names[] = { "rkh3", "rkh2", "ptx" };
	const char *dialect = fmt_option(source->flow, "dialect");
	const char *pairs = fmt_option(source->flow, "cfg");
	struct rkh_decoder *decoder = &source->decoder;
	uint64_t max = RKH_FRAME_MAX;
	unsigned which = 0;

	if (!fmt_option_number(source->flow, "max-frame", 16, FRAME_MAX, &max))
		return TOOL_USAGE;
	while (dialect && which < COUNT(names) && strcmp(dialect, names[which]))
		which++;
	if (which == COUNT(names)) {
		fmt_option_wrong(source->flow, "dialect", "rkh3, rkh2 or ptx");
		return TOOL_USAGE;
	}
	if (rkh_open(decoder, (size_t)max))
		return fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "no memory");
	decoder->fixed = dialect;
	source->wants_accounts = which == RKH_DIALECT_PTX && fmt_flag(source->flow, "account");
	decoder->dialect = (enum rkh_dialect)which;
	source->data = malloc((size_t)max);
	if (!source->data)
		return fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "no memory");
	return !pairs || read_pairs(decoder, pairs) ? read_filter(source) : TOOL_USAGE;
}
