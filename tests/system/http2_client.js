// Tries a playground by Node's HTTP/2: node http2_client.js http://127.0.0.1:8080 [CA]. The exit code is 0 and the last
// line `ok N` if all N checks hold; else it says which does not.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const http2 = require("node:http2");
const { once } = require("node:events");
const { buffer } = require("node:stream/consumers");

const base = process.argv[2];
const trust = base.startsWith("https") ? { ca: fs.readFileSync(process.argv[3]) } : {};
let checks = 0;

function check(actual, wanted) {
  assert.deepStrictEqual(actual, wanted);
  ++checks;
}

async function ask(session, headers, body) {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [reply] = await once(stream, "response");
  return { status: reply[":status"], headers: reply, body: await buffer(stream) };
}

async function main() {
  const session = http2.connect(base, trust);
  await once(session, "connect");

  const many = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(session, { ":path": `/stream/${1000 + i}` })));
  many.forEach((reply, i) => check([reply.status, reply.body.length], [200, 1000 + i]));

  const text = Buffer.alloc(1_000_000, "weft ");
  const echoed = await ask(session, { ":method": "POST", ":path": "/echo" }, text);
  check(echoed.body.equals(text), true);

  const counted = session.request({ ":method": "PUT", ":path": "/count", expect: "100-continue" });
  await once(counted, "continue");
  counted.end("12345");
  check((await buffer(counted)).toString(), "5");

  const head = await ask(session, { ":method": "HEAD", ":path": "/stream/10" });
  check([head.status, head.body.length], [200, 0]);
  check((await ask(session, { ":path": "/nowhere" })).status, 404);

  // A stream that is cancelled leaves the others alone.
  const cancelled = session.request({ ":path": "/stream/100000000" });
  cancelled.on("error", () => {});
  await once(cancelled, "response");
  cancelled.close(http2.constants.NGHTTP2_CANCEL);
  check((await ask(session, { ":path": "/stream/1" })).body.length, 1);

  check(await new Promise((resolve) => session.ping((error) => resolve(error))), null);

  // With one that is slow to read, the others go on.
  const slow = session.request({ ":path": "/stream/10000000" });
  await once(slow, "response");
  slow.pause();
  check((await ask(session, { ":path": "/stream/100000" })).body.length, 100000);
  check((await buffer(slow)).length, 10000000);

  session.close();
  await once(session, "close");
  console.log(`ok ${checks}`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
