// SPDX-License-Identifier: LGPL-2.1-or-later
'use strict';
const { event, span, Stream, Log } = require('posixtrace');

const accept = event('net.accept', 's32 fd; str peer; @level 4');
const answer = span('answer');

const path = process.argv[2] || 'first.ptl';
const stream = new Stream(path).start();
for (let fd = 3; fd < 6; fd++)
  answer(() => accept(fd, 'localhost'));
stream.shutdown();
for (const event of new Log(path))
  if (Object.keys(event.fields).length)
    console.log(event.name, event.fields);
