/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_lacking.h - finds out whether a server has all rows of the ledger of the logs that its
 * table logs lists. A replica that has not received all rows yet would otherwise hide losses.
 */
#ifndef POSIXTRACE_QUERY_QUERY_LACKING_H
#define POSIXTRACE_QUERY_QUERY_LACKING_H

#include <stdbool.h>

#include "fleet/server.h"

/*
 * Compares the table with the sums in the summaries of the logs, the table streams. "table" is a
 * number of enum query_tables. Tables without such a sum lack nothing. If rows are lacking, or the
 * comparison fails, the function prints this and returns true. It overwrites server->answer.
 */
bool query_lacks(struct server *server, int table);

#endif
