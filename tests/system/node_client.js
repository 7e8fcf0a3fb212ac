// Tries a playground as programs on Node.js do: node node_client.js http://127.0.0.1:8080 [CA]. The exit code is 0 and
// the last line `ok N` if all N checks hold; else it says which does not. The playground's folder holds large.bin, and
// text.txt beside its text.txt.gz.
"use strict";

const assert = require("node:assert");
const crypto = require("node:crypto");
const fs = require("node:fs");
const { once } = require("node:events");
const { Readable, pipeline } = require("node:stream");
const { buffer, text, json } = require("node:stream/consumers");

const base = new URL(process.argv[2]);
const secured = base.protocol === "https:";
const web = require(secured ? "node:https" : "node:http");
const trust = secured ? { ca: fs.readFileSync(process.argv[3]) } : {};

const PAGE = "all work and no play\n".repeat(1000);
const BLOCK = Buffer.from(Array.from({ length: 1024 }, (_, line) => `${String(line).padStart(15, "0")}\n`).join(""));

function expected(size) {
  return Buffer.alloc(size, BLOCK);
}

function agent(options) {
  return new web.Agent({ ...trust, ...options });
}

function start(method, path, options = {}) {
  return web.request(new URL(path, base), { method, agent: agent({ keepAlive: false }), ...options });
}

async function reply(request) {
  const [response] = await once(request, "response");
  return response;
}

async function ask(method, path, body, options) {
  const request = start(method, path, options);
  request.end(body);
  return reply(request);
}

// A connection by hand: what it says until `enough` of that says so.
async function talk(sent, enough) {
  const connect = secured ? require("node:tls").connect : require("node:net").connect;
  const socket = connect({ host: base.hostname, port: base.port, ...trust });
  socket.write(sent);
  let received = "";
  for await (const part of socket) {
    received += part.toString("latin1");
    if (enough(received)) break;
  }
  socket.destroy();
  return received;
}

const checks = {
  async aKeptConnectionIsUsedAgain() {
    const kept = agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; number < 20; ++number) {
      const request = start("POST", "/note", { agent: kept, headers: { "Content-Type": "application/json" } });
      request.end(JSON.stringify({ text: "ä", number }));
      const response = await reply(request);
      assert.strictEqual(response.statusCode, 200);
      assert.deepStrictEqual(await json(response), { text: "ä", number });
      assert.strictEqual(request.reusedSocket, number > 0);
    }
    kept.destroy();
  },

  async manyAtOnceShareFewConnections() {
    const kept = agent({ keepAlive: true, maxSockets: 8 });
    const sizes = Array.from({ length: 100 }, (_, i) => i * 997);
    const bodies = await Promise.all(
      sizes.map(async (size) => buffer(await ask("GET", `/stream/${size}`, undefined, { agent: kept }))));
    bodies.forEach((body, i) => assert.ok(body.equals(expected(sizes[i]))));
    kept.destroy();
  },

  async requestsInALineAreAnsweredInOrder() {
    const requests = Array.from({ length: 50 }, (_, number) => {
      const body = JSON.stringify({ text: "", number });
      return `POST /note HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    });
    const answer = await talk(requests.join(""), (received) => received.includes('"number":49}'));
    assert.deepStrictEqual([...answer.matchAll(/"number":(\d+)/g)].map((found) => Number(found[1])), [...requests.keys()]);
    assert.strictEqual(answer.match(/HTTP\/1\.1 200 OK\r\n/g).length, 50);
  },

  async bothWaysAtOnceAtTheClientsPace() {
    const sent = crypto.randomBytes(5_000_000);
    const request = start("POST", "/echo");
    pipeline(Readable.from((function* () {
      for (let at = 0; at < sent.length; at += 50_000) yield sent.subarray(at, at + 50_000);
    })()), request, (failed) => assert.ifError(failed));
    const response = await reply(request);
    assert.strictEqual(response.headers["transfer-encoding"], "chunked");
    const received = [];
    for await (const part of response) {
      received.push(part);
      if (received.length % 10 === 0) await new Promise((go) => setTimeout(go, 1));
    }
    assert.ok(Buffer.concat(received).equals(sent));
  },

  async anUploadOfKnownLength() {
    const sent = Buffer.alloc(10_000_000, "x");
    assert.strictEqual(await text(await ask("PUT", "/count", sent, { headers: { "Content-Length": sent.length } })), "10000000");
  },

  async whoAsksFirstIsToldToGoOn() {
    const request = start("PUT", "/count", { headers: { Expect: "100-continue", "Content-Length": 7 } });
    request.flushHeaders();
    await once(request, "continue");
    request.end("content");
    assert.strictEqual(await text(await reply(request)), "7");
  },

  async aDownloadThatIsLeftHarmsNobody() {
    const request = start("GET", "/stream/1000000000000");
    request.end();
    const response = await reply(request);
    await once(response, "data");
    response.destroy();
    assert.strictEqual((await ask("GET", "/stream/0")).statusCode, 200);
  },

  async anUploadThatIsLeftHarmsNobody() {
    const request = start("PUT", "/count", { headers: { "Content-Length": 1_000_000 } });
    request.write("begun");
    await once(request, "socket");
    request.destroy();
    await once(request, "error");
    assert.strictEqual((await ask("GET", "/stream/0")).statusCode, 200);
  },

  async aPartOfAFile() {
    const whole = await buffer(await ask("GET", "/large.bin"));
    const part = await ask("GET", "/large.bin", undefined, { headers: { Range: "bytes=1000-2999" } });
    assert.strictEqual(part.statusCode, 206);
    assert.strictEqual(part.headers["content-range"], `bytes 1000-2999/${whole.length}`);
    assert.ok((await buffer(part)).equals(whole.subarray(1000, 3000)));
    const fresh = await ask("GET", "/large.bin", undefined, { headers: { "If-None-Match": part.headers.etag } });
    assert.strictEqual(fresh.statusCode, 304);
  },

  async fetchTakesWhatIsCompressed() {
    const response = await fetch(new URL("/text.txt", base));
    assert.strictEqual(response.headers.get("content-encoding"), "gzip");
    assert.strictEqual(await response.text(), PAGE);
  },

  async fetchSendsJson() {
    const note = { text: "\u{1F9F6}", number: -1 };
    const response = await fetch(new URL("/note", base), { method: "POST", body: JSON.stringify(note) });
    assert.deepStrictEqual(await response.json(), note);
  },

  async fetchSendsAFormWithAFile() {
    const form = new FormData();
    form.append("note", "hello");
    form.append("file", new Blob([expected(100_000)], { type: "text/x-lines" }), "lines.txt");
    const response = await fetch(new URL("/form", base), { method: "POST", body: form });
    assert.strictEqual(response.status, 200);
    assert.strictEqual(await response.text(), `note|-|text/plain\nhello\nfile|lines.txt|text/x-lines\n${expected(100_000)}\n`);
  },

  async fetchStreamsUp() {
    const body = Readable.toWeb(Readable.from(["one", "two", "three"].map((word) => Buffer.from(word))));
    const response = await fetch(new URL("/echo", base), { method: "POST", body, duplex: "half" });
    assert.strictEqual(await response.text(), "onetwothree");
  },

  async fetchStreamsDownAndStops() {
    const stop = new AbortController();
    const response = await fetch(new URL("/stream/1000000000000", base), { signal: stop.signal });
    const reader = response.body.getReader();
    const first = (await reader.read()).value;
    assert.ok(Buffer.from(first).equals(expected(first.length)));
    stop.abort();
    await assert.rejects(async () => { for (;;) if ((await reader.read()).done) return; }, { name: "AbortError" });
  },
};

async function main() {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (failed) {
      console.error(`${name}: ${failed.stack}`);
      process.exit(1);
    }
  }
  console.log(`ok ${Object.keys(checks).length}`);
  process.exit(0); // what fetch keeps open is its own
}

main();
