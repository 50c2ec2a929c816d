/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * account_name.h - the names of the accounts of dropped logs (query_account.h).
 *
 * The account of LOG is LOG.account, or LOG.HASH.account if another log of this name has an account
 * already. HASH has 16 hexadecimal digits. A merged account, which has the accounts of many logs,
 * is merged.N.account. The functions may be called at any time and by any thread.
 */
#ifndef POSIXTRACE_QUERY_ACCOUNT_NAME_H
#define POSIXTRACE_QUERY_ACCOUNT_NAME_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ACCOUNT_SUFFIX	    ".account"
#define ACCOUNT_HASH_LEN    17 /* length of a hash with the dot before it */
/*
 * A log that is not larger than this number of bytes is not dropped, because its account could need
 * as many bytes.
 */
#define ACCOUNT_BYTES	    16384
/* If a folder has more accounts with one log each than this number, these accounts are merged. */
#define ACCOUNT_APART	    32
#define ACCOUNT_MERGED	    "merged.%u" ACCOUNT_SUFFIX
#define ACCOUNT_MERGED_MOST 999999999

/* Returns whether the name consists of the name of a log and the suffix of an account. */
static inline bool account_is_name(const char *name)
{
	const size_t len = strlen(name), suffix = strlen(ACCOUNT_SUFFIX);

	return len > suffix && !strcmp(name + len - suffix, ACCOUNT_SUFFIX);
}

/* Returns the number of a merged account, or 0 if the name does not belong to a merged account. */
static inline unsigned account_merged_number(const char *name)
{
	unsigned number;
	char again[32];

	if (sscanf(name, "merged.%9u", &number) != 1)
		return 0;
	snprintf(again, sizeof(again), ACCOUNT_MERGED, number);
	return strcmp(name, again) ? 0 : number;
}

/*
 * Returns the length of the name of the log in the name of its account. If has_hash is true, the
 * name has a hash. Returns 0 if the name is not the name of such an account.
 */
static inline size_t account_log_length(const char *name, bool has_hash)
{
	const size_t len = strlen(name), more = strlen(ACCOUNT_SUFFIX) + ACCOUNT_HASH_LEN;

	if (!account_is_name(name))
		return 0;
	if (!has_hash)
		return len - strlen(ACCOUNT_SUFFIX);
	return len > more && name[len - more] == '.' &&
			       strspn(name + len - more + 1, "0123456789abcdef") ==
				       ACCOUNT_HASH_LEN - 1
		       ? len - more
		       : 0;
}

#endif
