// Tries the playground it comes from, as pages in a browser do, and reports {check: "ok", or what is wrong}. Then it
// goes on to the page that ?next= names. Beside it lies large.bin.
"use strict";

const BLOCK = Array.from({ length: 1024 }, (_, line) => `${String(line).padStart(15, "0")}\n`).join("");

function expected(size) {
  return BLOCK.repeat(size / BLOCK.length + 1).slice(0, size);
}

function same(is, wanted, what) {
  if (is !== wanted) throw new Error(`${what}: ${String(is).slice(0, 200)} in place of ${String(wanted).slice(0, 200)}`);
}

function sameBytes(is, wanted, what) {
  same(is.length, wanted.length, `${what}, length`);
  same(is.findIndex((byte, at) => byte !== wanted[at]), -1, `${what}, the first byte that differs`);
}

const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());

const checks = {
  async aScriptIsTakenCompressed() {
    const [loaded] = performance.getEntriesByName(new URL("page.js", location).href);
    same(loaded.encodedBodySize < loaded.decodedBodySize, true, "fewer bytes on the way");
  },

  async httpTwoIsSpokenOverTls() {
    const [loaded] = performance.getEntriesByType("navigation");
    same(loaded.nextHopProtocol, location.protocol === "https:" ? "h2" : "http/1.1", "protocol");
  },

  async jsonGoesAndComes() {
    const note = { text: "\u{1F9F6} ä", number: 9007199254740991 };
    const response = await fetch("/note", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(note),
    });
    same(response.status, 200, "status");
    same(JSON.stringify(await response.json()), JSON.stringify(note), "note");
  },

  async aProblemIsADocument() {
    const response = await fetch("/note", { method: "POST", body: "{}?" });
    same(response.status, 400, "status");
    same(response.headers.get("content-type"), "application/problem+json", "type");
    same((await response.json()).status, 400, "status within");
  },

  async aFormWithAFileGoesUp() {
    const form = new FormData();
    form.append("note", "hello");
    form.append("file", new File([expected(300_000)], 'ein "großes".txt', { type: "text/x-lines" }));
    const response = await fetch("/form", { method: "POST", body: form });
    same(await response.text(),
         `note|-|text/plain\nhello\nfile|ein %22großes%22.txt|text/x-lines\n${expected(300_000)}\n`, "the form");
  },

  async aLargeFileGoesUp() {
    const response = await fetch("/count", { method: "PUT", body: new Blob([new Uint8Array(10_000_000)]) });
    same(await response.text(), "10000000", "bytes");
  },

  async aStreamComesInPieces() {
    const decoder = new TextDecoder();
    let all = "";
    let pieces = 0;
    const reader = (await fetch("/stream/3000001")).body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      all += decoder.decode(piece.value, { stream: true });
      ++pieces;
    }
    same(all === expected(3_000_001), true, "the stream is whole");
    same(pieces > 1, true, "in pieces");
  },

  async aStreamCanBeLeft() {
    const stop = new AbortController();
    const reader = (await fetch("/stream/1000000000000", { signal: stop.signal })).body.getReader();
    same((await reader.read()).done, false, "an end");
    stop.abort();
    let failed = "";
    try {
      while (!(await reader.read()).done);
    } catch (why) {
      failed = why.name;
    }
    same(failed, "AbortError", "how reading ends");
  },

  async aRangeComesAlone() {
    const whole = await bytesOf(await fetch("/large.bin", { cache: "no-store" }));
    const part = await fetch("/large.bin", { cache: "no-store", headers: { Range: "bytes=1000-2999" } });
    same(part.status, 206, "status");
    same(part.headers.get("content-range"), `bytes 1000-2999/${whole.length}`, "range");
    sameBytes(await bytesOf(part), whole.slice(1000, 3000), "the part");
  },

  async manyAtOnce() {
    const sizes = Array.from({ length: 60 }, (_, i) => i * 1009);
    const texts = await Promise.all(sizes.map(async (size) => (await fetch(`/stream/${size}`)).text()));
    texts.forEach((text, i) => same(text === expected(sizes[i]), true, `stream ${i} is whole`));
  },
};

async function main() {
  const outcomes = { protocol: location.protocol };
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      outcomes[name] = "ok";
    } catch (failed) {
      outcomes[name] = String(failed);
    }
  }
  await fetch("/report", { method: "POST", body: JSON.stringify(outcomes) });
  const next = new URLSearchParams(location.search).get("next");
  if (next) location = next;
}

main();
