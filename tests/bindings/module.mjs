// SPDX-License-Identifier: LGPL-2.1-or-later
// module.mjs - the module posixtrace with import, in worker threads, and in async loops.
// Usage: module.mjs LOG
import assert from 'node:assert';
import { Worker, isMainThread, threadId } from 'node:worker_threads';
import { event, asyncSpan, span, Stream, Log, isActive } from 'posixtrace';
import posixtrace from 'posixtrace';

const turn = event('turn', 's32 worker;s32 i');
const work = span('work');
const load = asyncSpan('load');

async function record() {
  for (let i = 0; i < 3; i++)
    await load(async () => work(() => turn(threadId, i)));
}

if (isMainThread) {
  assert.strictEqual(posixtrace.event, event);
  const path = process.argv[2];
  const stream = new Stream(path).start();
  assert(isActive());
  const ends = [1, 2].map(() => new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url)).on('error', reject).on('exit', resolve);
  }));
  await record();
  assert.deepStrictEqual(await Promise.all(ends), [0, 0]);
  await record();
  stream.shutdown();
  const turns = [], numbers = new Set(), log = new Log(path);
  for await (const { name, tid, fields } of log) {
    if (name === 'turn')
      turns.push([tid, fields.worker, fields.i]);
    if (name === 'load.begin')
      numbers.add(fields.id);
  }
  log.close();
  assert.strictEqual(turns.length, 12);
  assert.strictEqual(numbers.size, 12);
  assert.strictEqual(new Set(turns.map(([tid]) => tid)).size, 3);
  for (const worker of new Set(turns.map((turn) => turn[1])))
    assert.deepStrictEqual(turns.filter((turn) => turn[1] === worker).map((turn) => turn[2]),
                           worker ? [0, 1, 2] : [0, 1, 2, 0, 1, 2]);
} else {
  await record();
}
