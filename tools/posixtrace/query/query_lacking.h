/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_lacking.h - finds out whether a server lacks rows. For each log that its table logs lists,
 * the server should have all rows of the ledger. A replica that has not received all rows yet would
 * otherwise hide losses.
 */
#ifndef POSIXTRACE_QUERY_QUERY_LACKING_H
#define POSIXTRACE_QUERY_QUERY_LACKING_H

#include <stdbool.h>

#include "fleet/server.h"

/*
 * Compares the sums of the table with those in the table streams, which has a summary of each log.
 * "table" is a number of enum query_tables. Tables without such a sum lack nothing. If rows are
 * lacking, or the comparison fails, the function prints this and returns true. It overwrites
 * server->answer.
 */
bool query_lacks(struct server *server, int table);

#endif
