// SPDX-License-Identifier: LGPL-2.1-or-later
// duckdb_query.js - queries files of Apache Parquet with DuckDB in Node.
//
//	node duckdb_query.js FOLDER DIR SQL...
//
// FOLDER is that of the npm package @duckdb/node-api, DIR that of the files, which statements name
// without a folder. Prints a JSON array of rows for each statement, on one line. Integers are
// strings, as a double cannot represent all of them.
'use strict';
const [folder, dir, ...queries] = process.argv.slice(2);
const { DuckDBInstance } = require(folder);

process.chdir(dir);
(async () => {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();

	for (const sql of queries) {
		const reader = await connection.runAndReadAll(sql);
		console.log(JSON.stringify(reader.getRowsJson()));
	}
})().catch((error) => {
	console.error(String(error && error.stack || error));
	process.exit(1);
});
