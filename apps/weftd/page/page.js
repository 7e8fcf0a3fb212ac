"use strict";
// Numbers stay as they are written: 64 bits are more than JavaScript's have.
class Digits { constructor(text) { this.text = text; } }

function parse(text) {
  let at = 0;
  const token = /\s*(?:([{}\[\]:,])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null))/y;
  const next = () => {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) throw new SyntaxError("no JSON");
    at = token.lastIndex;
    return found;
  };
  const value = ([, sign, string, number, word]) => {
    if (string) return JSON.parse(string);
    if (number) return new Digits(number);
    if (word) return JSON.parse(word);
    const all = sign === "{" ? new Map() : [];
    const end = sign === "{" ? "}" : "]";
    for (let part = next(); part[1] !== end; part = next()) {
      if (part[1] === ",") part = next();
      if (sign === "{") { next(); all.set(JSON.parse(part[2]), value(next())); }
      else all.push(value(part));
    }
    return all;
  };
  return value(next());
}

const $ = (id) => document.getElementById(id);
function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const state = { databases: [], database: null, table: null, kind: "row", view: "table", answer: null };
const kinds = { row: "Row", batch: "Batch", scan: "Scan", sql: "SQL" };
const conditions = { EQ: "=", NE: "≠", LT: "<", LE: "≤", GT: ">", GE: "≥", ISNULL: "is null", ISNOTNULL: "is not null" };

// The button that was pressed is made anew, and keeps the keyboard.
function replace(id, buttons) {
  const hadFocus = $(id).contains(document.activeElement);
  $(id).replaceChildren(...buttons);
  if (hadFocus) $(id).querySelector("[aria-current], [aria-pressed=true]")?.focus();
}
function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}
function headers() {
  const key = $("key").value.trim();
  return key ? { "X-API-KEY": key } : {};
}

// What there is

async function load() {
  let reply;
  try {
    reply = await fetch("/0.2.0/schema", { headers: headers() });
  } catch (why) {
    return fail("The server did not answer: " + why.message);
  }
  const said = await reply.json().catch(() => ({}));
  if (reply.status === 401) return fail("This server asks for an API key: " + (said.error?.message ?? "none was taken") + ".");
  if (!reply.ok) return fail("The databases could not be read: " + (said.error?.message ?? reply.status));
  notice("");
  state.databases = said.databases;
  choose();
}
function fail(text) {
  notice(text);
  state.databases = [];
  $("tables").replaceChildren(make("p", { className: "quiet" }, "No tables to show."));
  $("work").hidden = true;
  showState();
}

// The choice stands in the address: #demo/users/scan
function choose() {
  let [database, table, kind] = [];
  try { [database, table, kind] = location.hash.slice(1).split("/").map(decodeURIComponent); } catch { /* nobody's */ }
  const all = state.databases.flatMap((of) => of.tables.map((table) => ({ of, table })));
  const found = all.find((each) => each.of.name === database && each.table.name === table) ?? all[0];
  state.database = found?.of ?? state.databases[0] ?? null;
  state.table = found?.table ?? null;
  state.kind = !state.table ? "sql" : Object.hasOwn(kinds, kind) ? kind : "row";
  state.answer = null;
  show();
  showState();
}
function go(database, table, kind) {
  location.hash = [database, table, kind].map(encodeURIComponent).join("/");
}

function show() {
  showTables();
  $("work").hidden = !state.database || isStateShown();
  if (!state.database) return;
  $("where").textContent = state.table ? state.database.name + " / " + state.table.name : state.database.name;
  showAbout();
  replace("kinds", Object.entries(kinds).map(([kind, name]) => make("button", {
    type: "button", "aria-pressed": String(kind === state.kind), disabled: !state.table && kind !== "sql",
    onclick: () => go(state.database.name, state.table?.name ?? "", kind) }, name)));
  forms[state.kind]();
  $("answer").hidden = true;
}
function showTables() {
  if (!state.databases.length) {
    $("tables").replaceChildren(make("p", { className: "quiet" }, "No databases."));
    notice("There are no databases that you may read. `weftd demo` makes one to try; `weftd --data FOLDER` serves those of a folder.");
    return;
  }
  replace("tables", state.databases.flatMap((database) => [
    make("h3", {}, database.name),
    ...database.tables.map((table) => make("button", {
      type: "button", ...(table === state.table && !isStateShown() ? { "aria-current": "true" } : {}),
      onclick: () => go(database.name, table.name, state.kind) }, table.name)),
    ...(database.tables.length ? [] : [make("p", { className: "quiet" }, "no tables")])]));
}
function showAbout() {
  const table = state.table;
  $("columns").hidden = !table;
  if (!table) return;
  const indexed = (name) => table.indexes.filter((each) => each.columns.includes(name))
    .map((each) => each.name + (each.unique ? " (unique)" : "")).join(", ");
  const place = (name) => !table.key.includes(name) ? "" : table.key.length > 1 ? "key " + (table.key.indexOf(name) + 1) : "key";
  const rows = table.columns.map((each) => [each.name, each.type, place(each.name), each.nullable && !place(each.name) ? "yes" : "",
    [indexed(each.name), each.generated ? "generated" : ""].filter(Boolean).join(", ")]);
  const isWide = rows.some((row) => row[4]);
  const line = (tag, texts) => make("tr", {}, ...(isWide ? texts : texts.slice(0, 4)).map((text) => make(tag, {}, text)));
  $("about").replaceChildren(make("thead", {}, line("th", ["Column", "Type", "Key", "Null", "Indexes"])),
    make("tbody", {}, ...rows.map((row) => line("td", row))));
}

// What it has done: asked for again as long as it is shown

const isStateShown = () => location.hash === "#state";
const stateEvery = 2000;

async function showState() {
  $("state").hidden = !isStateShown();
  $("to-state").ariaCurrent = isStateShown() ? "page" : null;
  clearTimeout(state.again);
  if (!isStateShown()) return;
  try {
    const reply = await fetch("/0.2.0/stat", { headers: headers() });
    const said = await reply.json();
    if (!reply.ok) throw new Error(said.error?.message ?? String(reply.status));
    $("state").replaceChildren(...stateOf(said));
    notice("");
  } catch (why) {
    notice("The server does not say how it is: " + why.message);
  }
  if (isStateShown()) state.again = setTimeout(showState, stateEvery);
}
function figures(title, pairs) {
  return make("section", { className: "figures" }, make("h3", {}, title), make("dl", {}, ...pairs.flatMap(([name, value, isBad]) =>
    [make("dt", {}, name), make("dd", { className: isBad ? "bad" : "" }, typeof value === "number" ? value.toLocaleString("en") : value)])));
}
function stateOf({ version, uptimeSeconds, shards, http, store, memory }) {
  const link = store.connections;
  const failures = Object.entries(store.failures);
  const times = [["Reads, by batches", store.readTimes], ["Writes", store.writeTimes], ["Queries", store.queryTimes],
    ...(link ? [["Wait for a connection", link.waits]] : [])];
  const cells = (tag, texts) => texts.map((text, i) => make(tag, { className: i ? "number" : "" }, text));
  return [make("h2", {}, "Status"), make("div", { className: "cards" },
    figures("Server", [["Version", version], ["Up", lasting(uptimeSeconds)], ["Shards", shards], ["Connections", http.connections],
      ["Replies", http.replies], ["Replies with 5xx", http.repliesOfServerFaults, http.repliesOfServerFaults > 0],
      ["Memory of coroutines", Math.round(memory.frameBytes / 1024) + " KiB"]]),
    figures("Rows", [["Engine", store.engine], ["Reachable", store.reachable ? "yes" : "no", !store.reachable], ["Read in memory", store.readsInMemory],
      ["Read elsewhere", store.readsElsewhere], ["Found", store.rowsRead], ["Scanned", store.rowsScanned], ["Written", store.rowsWritten],
      ["Batches of writes that wait", store.writeBatchesWaiting]]),
    ...(link ? [figures("Connections to servers", [["Open", link.open], ["Opened", link.opened], ["Attempts that failed", link.failed, link.failed > 0],
      ["Lost", link.lost], ["Servers given up", link.serversGivenUp, link.serversGivenUp > 0]])] : []),
    figures("Not done, by why", failures.length ? failures.map(([why, count]) => [why.replaceAll("_", " "), count, true]) : [["nothing", ""]])),
  make("h3", {}, "How long it took"), make("div", { className: "scroller" }, make("table", {},
    make("thead", {}, make("tr", {}, ...cells("th", ["", "Number", "p50", "p99", "max"]))),
    make("tbody", {}, ...times.map(([name, of]) => make("tr", {}, ...cells("td",
      [name, of.count.toLocaleString("en"), ...(of.count ? [of.p50Us, of.p99Us, of.maxUs].map(inTime) : ["", "", ""])]))))))];
}
function inTime(us) {
  return us < 1000 ? us + " µs" : us < 1e6 ? (us / 1000).toPrecision(3) + " ms" : (us / 1e6).toPrecision(3) + " s";
}
function lasting(seconds) {
  const parts = [[86400, " d"], [3600, " h"], [60, " min"], [1, " s"]];
  const first = parts.findIndex(([of]) => seconds >= of || of === 1);
  return parts.slice(first, first + 2).map(([of, unit], i) => Math.floor((i ? seconds % parts[first][0] : seconds) / of) + unit).join(" ");
}

// Forms: each makes a body

function field(name, text, properties = {}) {
  return make("label", {}, text, make("input", { name, autocomplete: "off", spellcheck: false, ...properties }));
}
function select(name, text, options) {
  return make("label", {}, text, make("select", { name },
    ...options.map(([value, shown]) => make("option", { value }, shown))));
}
function group(legend, ...rows) {
  return make("fieldset", {}, make("legend", {}, legend),
    ...rows.map((fields) => make("div", { className: "fields" }, ...fields)));
}
function ticks(names) {
  return group("Columns to read", names.map((name) => make("label", { className: "tick" },
    make("input", { type: "checkbox", name: "read", value: name, checked: true }), name)));
}
function wanted(all) {
  const read = new FormData($("form")).getAll("read");
  return read.length && read.length < all.length ? { readColumns: read.map((column) => ({ column })) } : {};
}
const typeOf = (name) => state.table.columns.find((each) => each.name === name).type;
const keyFields = () => state.table.key.map((name) => field("key", name + " · " + typeOf(name)));
const others = () => state.table.columns.map((each) => each.name).filter((name) => !state.table.key.includes(name));
const values = (name) => new FormData($("form")).getAll(name);
const filtersOf = (keys) => state.table.key.map((column, i) => ({ column, value: keys[i] }));
const pathOf = (what) => encodeURIComponent(state.database.name) + "/" + encodeURIComponent(state.table.name) + "/" + what;

function use(path, body, ...children) {
  state.path = "/0.2.0/" + path;
  state.make = body;
  $("form").replaceChildren(...children);
  refresh();
}
function refresh() {
  $("body").value = JSON.stringify(state.make(), null, 2);
  showCurl();
}
function needsKey() {
  if (state.table.key.length) return false;
  use("sql", sqlBody, make("p", { className: "quiet" }, "This table has no primary key: ask for its rows in SQL."));
  return true;
}
function sqlBody() {
  return { database: state.database.name, query: "SELECT * FROM \"" + state.table.name.replaceAll("\"", "\"\"") + "\" LIMIT 20" };
}

const forms = {
  row() {
    if (needsKey()) return;
    use(pathOf("pk-read"), () => ({ filters: filtersOf(values("key")), ...wanted(others()) }),
      group("Primary key", keyFields()), ticks(others()));
  },
  batch() {
    if (needsKey()) return;
    const rows = make("fieldset", {}, make("legend", {}, "Primary keys"));
    const add = () => rows.append(make("div", { className: "fields" }, ...keyFields(),
      make("button", { type: "button", onclick: (e) => { e.target.parentElement.remove(); refresh(); } }, "Remove")));
    add(); add();
    const url = state.database.name + "/" + state.table.name + "/pk-read";
    use("batch", () => {
      const keys = values("key"), size = state.table.key.length, operations = [];
      for (let i = 0; i < keys.length; i += size)
        operations.push({ method: "POST", "relative-url": url, body: { filters: filtersOf(keys.slice(i, i + size)), ...wanted(others()) } });
      return { operations };
    }, rows, make("button", { type: "button", onclick: () => { add(); refresh(); } }, "Add a row"), ticks(others()));
  },
  scan() {
    if (needsKey()) return;
    const names = state.table.columns.map((each) => each.name);
    const condition = () => [select("column", "Column", [["", "any"], ...names.map((name) => [name, name])]),
      select("cond", "Is", Object.entries(conditions)), field("value", "Value")];
    use(pathOf("scan"), () => {
      const [columns, conds, given] = ["column", "cond", "value"].map(values);
      const tests = columns.flatMap((column, i) => !column ? [] : conds[i].startsWith("IS") ? [{ op: conds[i], column }]
        : [{ op: "CMP", column, cond: conds[i], value: given[i] }]);
      const filters = tests.reduceRight((right, left) => right ? { op: "AND", args: [left, right] } : left, null);
      const [index, order] = values("order")[0].split(" ");
      return { limit: Number(values("limit")[0]) || 0, ...wanted(names), ...(filters ? { filters } : {}),
        ...(index === "PRIMARY" && order === "asc" ? {} : { index: { name: decodeURIComponent(index), order } }) };
    }, group("Rows where", condition(), condition()),
    group("Order and number", [select("order", "By", ["PRIMARY", ...state.table.indexes.map((each) => each.name)].flatMap((name) =>
      ["asc", "desc"].map((way) => [encodeURIComponent(name) + " " + way, (name === "PRIMARY" ? "primary key" : name) + (way === "asc" ? " ↑" : " ↓")]))),
      field("limit", "Rows at most", { type: "number", min: 0, value: 20 })]), ticks(names));
  },
  sql() {
    const query = state.table ? sqlBody().query : "SELECT 1 AS one";
    use("sql", () => {
      let parameters;
      try { parameters = JSON.parse(values("parameters")[0] || "[]"); } catch { parameters = values("parameters")[0]; }
      const none = typeof parameters === "object" && !Object.keys(parameters ?? {}).length;
      return { database: state.database.name, query: values("query")[0], ...(none ? {} : { parameters }), limit: Number(values("limit")[0]) || 0 };
    }, make("label", {}, "Query ", make("small", {}, "one SELECT"), make("textarea", { name: "query", rows: 4, spellcheck: false, value: query })),
    make("label", {}, "Parameters ", make("small", {}, "a list for ?, an object for :name"),
      make("textarea", { name: "parameters", rows: 1, spellcheck: false, placeholder: "[17] or {\"id\": 17}" })),
    make("label", {}, "Rows at most ", make("input", { name: "limit", type: "number", min: 0, value: 100 })));
  },
};

// Asking

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
function showCurl() {
  let body = $("body").value;
  try { parse(body); body = body.replace(/\n\s*/g, " "); } catch { /* as it is */ }
  const key = $("key").value.trim() ? " -H \"X-API-KEY: $WEFTD_KEY\"" : "";
  $("curl").textContent = "curl" + key + " --data-raw " + quoted(body) + " " + quoted(location.origin + state.path);
}
async function send() {
  if ($("work").hidden || $("send").disabled) return;
  $("send").disabled = true;
  $("answer").hidden = false;
  $("status").textContent = "Asking…";
  const began = performance.now();
  try {
    const reply = await fetch(state.path, { method: "POST", headers: { "Content-Type": "application/json", ...headers() }, body: $("body").value });
    const text = await reply.text();
    state.answer = { text, took: performance.now() - began, code: reply.status };
    try { state.answer.value = parse(text); } catch { /* text */ }
    notice("");
    showAnswer();
  } catch (why) {
    $("answer").hidden = true;
    notice("The server did not answer: " + why.message);
  }
  $("send").disabled = false;
}
// Rows of any reply, as maps; nothing: there are none to show.
function rowsOf(value) {
  if (!(value instanceof Map)) return null;
  if (value.get("data") instanceof Map) return value.get("data").size ? [value.get("data")] : null;
  if (Array.isArray(value.get("data"))) return value.get("data");
  if (Array.isArray(value.get("result")))
    return value.get("result").map((each) => new Map([["code", each.get("code")], ...each.get("body").get("data"),
      ...(each.has("message") ? [["message", each.get("message")]] : [])]));
  return null;
}
function showAnswer() {
  const { text, took, code, value } = state.answer;
  const rows = rowsOf(value);
  const message = value instanceof Map && value.get("error") instanceof Map ? value.get("error").get("message") : null;
  const facts = [took.toFixed(1) + " ms", new Blob([text]).size.toLocaleString("en") + " bytes"];
  if (rows) facts.push(rows.length + (rows.length === 1 ? " row" : " rows"));
  if (value instanceof Map && value.get("truncated")) facts.push("there are more");
  if (code === 404 && !message) facts.push("there is no such row");
  $("status").replaceChildren(make("b", { className: code < 400 ? "good" : "bad" }, String(code)), " · " + facts.join(" · "),
    ...(message ? [make("br"), message] : []));
  const view = rows?.length ? state.view : "json";
  $("views").hidden = !rows?.length;
  replace("views", ["table", "json"].map((each) => make("button", {
    type: "button", "aria-pressed": String(each === view), onclick: () => { state.view = each; showAnswer(); } }, each === "json" ? "JSON" : "Table")));
  $("shown").replaceChildren(view === "table" ? tableOf(rows) : make("pre", { className: "json" }, ...(value === undefined ? [text] : pretty(value, ""))));
  $("next").hidden = !(value instanceof Map && value.get("continuation"));
}
function tableOf(rows) {
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return make("table", {}, make("thead", {}, make("tr", {}, ...names.map((name) => make("th", {
    scope: "col", className: rows.some((row) => row.get(name) instanceof Digits) ? "number" : "" }, name)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...names.map((name) => {
      const value = row.get(name);
      if (value instanceof Digits) return make("td", { className: "number" }, value.text);
      if (value === null) return make("td", { className: "null" }, "null");
      return make("td", { title: value ?? "" }, value === undefined ? "" : String(value));
    })))));
}
function pretty(value, indent) {
  const part = (className, text) => make("span", { className }, text);
  if (value instanceof Digits) return [value.text];
  if (value === null || typeof value === "boolean") return [part("null", String(value))];
  if (typeof value === "string") return [part("text", JSON.stringify(value))];
  const isMap = value instanceof Map, items = isMap ? [...value] : value;
  if (!items.length) return [isMap ? "{}" : "[]"];
  const deeper = indent + "  ";
  return [isMap ? "{\n" : "[\n", ...items.flatMap((item, i) => [i ? ",\n" + deeper : deeper,
    ...(isMap ? [part("name", JSON.stringify(item[0])), ": ", ...pretty(item[1], deeper)] : pretty(item, deeper))]), "\n" + indent + (isMap ? "}" : "]")];
}

$("form").addEventListener("input", refresh);
$("form").addEventListener("submit", (e) => { e.preventDefault(); send(); });
$("body").addEventListener("input", showCurl);
$("send").addEventListener("click", send);
$("next").addEventListener("click", () => {
  $("body").value = JSON.stringify({ ...JSON.parse($("body").value), continuation: state.answer.value.get("continuation") }, null, 2);
  showCurl();
  send();
});
$("copy").addEventListener("click", async () => {
  try { await navigator.clipboard.writeText($("curl").textContent); } catch { getSelection().selectAllChildren($("curl")); document.execCommand("copy"); }
  $("copy").textContent = "Copied";
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
});
$("version").textContent = document.body.dataset.version;
$("key").value = sessionStorage.getItem("weftd-key") ?? "";
$("key").addEventListener("change", () => { sessionStorage.setItem("weftd-key", $("key").value); load(); });
document.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); send(); } });
window.addEventListener("hashchange", choose);
load();
