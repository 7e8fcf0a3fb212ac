// Says what llhttp, as Node.js has it, makes of each request of a file: one line of JSON each, in their order.
//
//   node llhttp_verdicts.js requests.bin > verdicts.jsonl
//
// Only of the first message: what follows it is the next request's.
'use strict';

process.removeAllListeners('warning'); // the binding is internal, and says so
const { HTTPParser, methods, allMethods } = process.binding('http_parser');
const { readFileSync, writeFileSync } = require('fs');

function judge(bytes) {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {});
  const found = { outcome: 'incomplete', headers: [], body: '' };
  let inHead = true;
  let ended = false;
  const addHeaders = (pairs) => {
    for (let i = 0; i < pairs.length; i += 2) found.headers.push([pairs[i], pairs[i + 1]]);
  };
  parser[HTTPParser.kOnHeaders | 0] = (pairs) => { if (inHead) addHeaders(pairs); };
  parser[HTTPParser.kOnHeadersComplete | 0] =
    (major, minor, pairs, method, url, code, message, upgrade, keepAlive) => {
      if (ended) return 0;
      inHead = false;
      if (pairs !== undefined) addHeaders(pairs);
      found.method = (allMethods ?? methods)[method];
      found.target = url;
      found.version = `${major}.${minor}`;
      found.minor = minor;
      found.keep_alive = keepAlive;
      found.upgrade = upgrade;
      return 0;
    };
  parser[HTTPParser.kOnBody | 0] = (piece, start, length) => {
    if (ended) return;
    found.body += (length === undefined ? piece : piece.subarray(start, start + length)).latin1Slice();
  };
  parser[HTTPParser.kOnMessageComplete | 0] = () => {
    if (!ended) found.outcome = 'accept';
    ended = true;
  };
  const outcome = parser.execute(bytes);
  if (outcome instanceof Error && !ended) return { outcome: `${outcome.code}: ${outcome.reason}` };
  return found;
}

const all = readFileSync(process.argv[2]);
const lines = [];
for (let at = 0; at < all.length;) {
  const length = all.readUInt32LE(at);
  lines.push(JSON.stringify(judge(all.subarray(at + 4, at + 4 + length))));
  at += 4 + length;
}
writeFileSync(1, lines.join('\n') + '\n');
