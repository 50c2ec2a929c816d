/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_weighted_functions.c - count(), sum(), total() and avg() for rows with a weight. They
 * replace SQLite's functions of these names in this connection. Except for the rounding of reals,
 * their results equal the results of SQLite's functions.
 */
#include "query/query_weighted.h"

/*
 * The sum of a group. SQLite sets the struct to zeros for each group and frees it later. "whole" is
 * the exact sum as long as no real was added and no overflow occurred.
 */
struct sum {
	sqlite3_int64 count;
	double real;
	sqlite3_int64 whole;
	bool is_real, overflowed;
};

static const struct query *query_of(sqlite3_context *context)
{
	return sqlite3_user_data(context);
}

/* count(*) has no argument and counts each row; count(x) counts the rows where x is not NULL. */
static void count_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sum *sum = sqlite3_aggregate_context(context, sizeof(*sum));

	if (sum && (!argc || sqlite3_value_type(argv[0]) != SQLITE_NULL))
		sum->count += (sqlite3_int64)query_of(context)->weight;
}

static void count_final(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	sqlite3_result_int64(context, sum ? sum->count : 0);
}

/*
 * Adds a value to the integer sum and to the real sum. The real sum is needed, too, because a later
 * value may be a real.
 */
static void sum_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sum *sum = sqlite3_aggregate_context(context, sizeof(*sum));
	sqlite3_int64 weight = (sqlite3_int64)query_of(context)->weight, product;
	int type = sqlite3_value_numeric_type(argv[0]);

	(void)argc;
	if (!sum || type == SQLITE_NULL)
		return;
	sum->count += weight;
	sum->real += sqlite3_value_double(argv[0]) * (double)weight;
	if (type != SQLITE_INTEGER)
		sum->is_real = true;
	else if (__builtin_mul_overflow(sqlite3_value_int64(argv[0]), weight, &product) ||
		 __builtin_add_overflow(sum->whole, product, &sum->whole))
		sum->overflowed = true;
}

/* As in SQLite's sum(), the result without values is NULL, and an overflow is an error. */
static void sum_final(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	if (!sum || !sum->count)
		return;
	if (sum->is_real)
		sqlite3_result_double(context, sum->real);
	else if (sum->overflowed)
		sqlite3_result_error(context, "integer overflow", -1);
	else
		sqlite3_result_int64(context, sum->whole);
}

/* As in SQLite's total(), the result without values is 0.0, and an overflow is not an error. */
static void total_final(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	sqlite3_result_double(context, sum ? sum->real : 0);
}

static void avg_final(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	if (sum && sum->count)
		sqlite3_result_double(context, sum->real / (double)sum->count);
}

/*
 * The weight is 1 at the beginning, so that the functions also work for rows that have no weight.
 */
int query_weighted_functions(struct query *query, sqlite3 *db)
{
	static const struct {
		const char *name;
		int argc;
		void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
		void (*final)(sqlite3_context *context);
	} functions[] = {
		{ "count", 0, count_step, count_final }, { "count", 1, count_step, count_final },
		{ "sum", 1, sum_step, sum_final }, { "total", 1, sum_step, total_final },
		{ "avg", 1, sum_step, avg_final },
	};
	int err = SQLITE_OK;

	query->weight = 1;
	for (size_t i = 0; !err && i < sizeof(functions) / sizeof(functions[0]); i++)
		err = sqlite3_create_function(db, functions[i].name, functions[i].argc,
					      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					      query, NULL, functions[i].step, functions[i].final);
	return err;
}
