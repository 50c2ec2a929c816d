// SPDX-License-Identifier: LGPL-2.1-or-later
// overlap.js - the spans of two promises overlap; then a function is a span: overlap LOG
'use strict';
const assert = require('assert');
const posixtrace = require('posixtrace');
const span = posixtrace.asyncSpan('overlap', 4);
for (const path in require.cache)  // as in a package that has a copy of the module
  if (path.endsWith('index.js'))
    delete require.cache[path];
const same = require('posixtrace').asyncSpan('overlap', 4);
assert.notStrictEqual(require('posixtrace'), posixtrace);
const stream = new posixtrace.Stream(process.argv[2]).start();

async function main() {
  let endFirst, endSecond;
  const first = span(() => new Promise((end) => { endFirst = end; }));
  const second = same(() => new Promise((end, fail) => { endSecond = fail; }));
  endFirst(5);
  assert.strictEqual(await first, 5);
  endSecond(new Error('second'));
  await assert.rejects(second, /second/);
  assert.throws(() => span(() => { throw new Error('third'); }), /third/);
  stream.shutdown();
}
main();
