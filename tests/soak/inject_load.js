// SPDX-License-Identifier: LGPL-2.1-or-later
// A server and its client, with threads that read files and compress, until the input ends.
const fs = require('fs'), http = require('http'), zlib = require('zlib');
const wanted = fs.readFileSync(__filename, 'utf8');
let rounds = 0, wrong = 0, over = false;

process.stdin.on('end', () => { over = true; }).resume();
const server = http.createServer((request, response) => {
	fs.readFile(__filename, (error, data) => zlib.gzip(data, (error, packed) =>
		zlib.gunzip(packed, (error, plain) => response.end(plain))));
}).listen(0, '127.0.0.1', () => {
	const ask = () => {
		if (over) {
			console.log(wrong ? `wrong: ${wrong} answers` : `sound: ${rounds} rounds`);
			process.exit(wrong ? 1 : 0);
		}
		http.get({ port: server.address().port, host: '127.0.0.1' }, response => {
			let text = '';
			response.on('data', data => { text += data; });
			response.on('end', () => {
				rounds++;
				if (text !== wanted)
					wrong++;
				setImmediate(ask);
			});
		}).on('error', error => { console.log(error); wrong++; ask(); });
	};
	ask();
	ask();
});
