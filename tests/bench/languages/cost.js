// SPDX-License-Identifier: LGPL-2.1-or-later
'use strict';
const fs = require('fs');
const { event, Stream } = require('posixtrace');

const cost = event('cost', 's32 fd; str peer');
function measure(call) {
  let least = 1e9;
  for (let round = 0; round < 300; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < 300; i++)
      call(i);
    least = Math.min(least, Number(process.hrtime.bigint() - begin) / 300);
  }
  return least;
}
const trace = (i) => cost(i, 'localhost');
const off = measure(trace);
const stream = new Stream().start();
const on = measure(trace);
stream.shutdown();
// A stream that writes at once, as standard output to a file does.
const fd = fs.openSync('/dev/null', 'w');
const { Writable } = require('stream');
const null_ = new Writable({ write(chunk, encoding, done) { fs.writeSync(fd, chunk); done(); } });
const out = new console.Console(null_);
const tool = measure((i) => out.log('cost fd=%d peer=%s', i, 'localhost'));
console.log(`Node.js|${off.toFixed(0)}|${on.toFixed(0)}|console.log|${tool.toFixed(0)}`);
