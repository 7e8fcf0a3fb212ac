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
  const all = value(next());
  if (/\S/.test(text.slice(at))) throw new SyntaxError("no JSON");
  return all;
}

const $ = (id) => document.getElementById(id);
function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const state = { databases: [], database: null, table: null, kind: "scan", chosen: "scan", view: "table", answer: null, editing: null,
  turn: 0, loads: 0, failure: "", refused: new Map() };
const kinds = { scan: "Scan", row: "Row", batch: "Batch", write: "Write", sql: "SQL" };
const conditions = { EQ: "=", NE: "≠", LT: "<", LE: "≤", GT: ">", GE: "≥", ISNULL: "is null", ISNOTNULL: "is not null" };
// Each with its name, and what it does with a column that is left out.
const actions = { "pk-insert": ["Insert", "default"], "pk-update": ["Update", "keep"], "pk-write": ["Insert or update", "leave out"],
  "pk-delete": ["Delete", ""] };

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
async function ask(path, body) {
  const reply = await fetch(path, body === undefined ? { headers: headers() }
    : { method: "POST", headers: { "Content-Type": "application/json", ...headers() }, body });
  return { code: reply.status, text: await reply.text() };
}
// The message of a failed request: the API's, problem+json, or a proxy's text.
function messageOf({ code, text }) {
  let said;
  try { said = JSON.parse(text); } catch { /* plain text */ }
  return said?.error?.message ?? said?.detail ?? said?.title ?? (text.trim().slice(0, 500) || "status " + code);
}

// What there is

async function load() {
  const loads = ++state.loads;
  let answer, databases;
  try {
    answer = await ask("/0.2.0/schema");
    if (answer.code === 200) ({ databases } = JSON.parse(answer.text));
  } catch (why) {
    answer = { code: 0, text: why.message };
  }
  if (loads !== state.loads) return;
  if (databases) {
    Object.assign(state, { failure: "", databases });
    state.refused.clear();
    return choose();
  }
  const message = messageOf(answer);
  if (answer.code !== 401 || !message.startsWith("the apikey"))
    return fail((answer.code ? "The databases could not be read: " : "The server did not answer: ") + message);
  fail("This server asks for an API key. Enter it at the top of this page. (" + message + ")");
  if (!$("key").value) $("key").focus();
}
function fail(text) {
  state.failure = text;
  state.databases = [];
  $("tables").replaceChildren(make("p", { className: "quiet" }, "No tables to show."));
  $("work").hidden = true;
  choose();
}

// The choice stands in the address: #demo/users/scan
function choose() {
  notice(state.failure);
  if (state.failure) return showState();
  let [database, table, kind] = [];
  try { [database, table, kind] = location.hash.slice(1).split("/").map(decodeURIComponent); } catch { /* of nothing here */ }
  const named = state.databases.find((each) => each.name === database);
  const found = named?.tables.find((each) => each.name === table);
  state.table = found ?? firstOf(named ? named.tables : state.databases.flatMap((each) => each.tables)) ?? null;
  state.database = named ?? state.databases.find((each) => each.tables.includes(state.table)) ?? state.databases[0] ?? null;
  state.chosen = Object.hasOwn(kinds, kind) ? kind : "scan";
  state.kind = state.table?.key.length ? state.chosen : "sql";
  state.answer = null;
  state.isWriting = false;
  state.turn++;
  const isUnknown = database && !isStateShown() && (table ? !found : !named);
  notice(isUnknown ? "There is no " + [database, table].filter(Boolean).join(" / ") + " that you may read." : "");
  show();
  showState();
}
// The table to open: one whose rows are easy to ask for.
function firstOf(tables) {
  return tables.find((each) => each.key.length === 1) ?? tables.find((each) => each.key.length) ?? tables[0];
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
    type: "button", "aria-pressed": String(kind === state.kind), disabled: !state.table?.key.length && kind !== "sql",
    onclick: () => go(state.database.name, state.table?.name ?? "", kind) }, name)));
  $("answer").hidden = true;
  wrong("");
  forms[state.kind]();
  if (isStateShown()) return;
  if (state.kind === "scan" || (state.table && !state.table.key.length)) send();
  if (state.kind === "row" || state.kind === "batch") fillKeys();
}
function showTables() {
  if (!state.databases.length) {
    $("tables").replaceChildren(make("p", { className: "quiet" }, "No databases."));
    notice("There are no databases that you may read. `weftd demo` makes one to try; `weftd --data FOLDER` serves those of a folder.");
    return;
  }
  const button = (database, table) => make("button", {
    type: "button", ...(database === state.database && table === state.table && !isStateShown() ? { "aria-current": "true" } : {}),
    onclick: () => go(database.name, table?.name ?? "", state.chosen) }, table?.name ?? "no tables");
  replace("tables", state.databases.flatMap((database) => [
    make("h3", {}, database.name), ...(database.tables.length ? database.tables : [null]).map((table) => button(database, table))]));
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
    const answer = await ask("/0.2.0/stat");
    if (answer.code !== 200) throw new Error(messageOf(answer));
    $("state").replaceChildren(...stateOf(JSON.parse(answer.text)));
    notice("");
  } catch (why) {
    notice("The status could not be read: " + why.message);
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

// Fields

function field(name, text, properties = {}) {
  return make("label", {}, text, make("input", { name, autocomplete: "off", spellcheck: false, ...properties }));
}
function select(name, text, options) {
  return make("label", {}, text, make("select", { name }, ...options.map(([value, shown]) => make("option", { value }, shown))));
}
function group(legend, ...rows) {
  return make("fieldset", {}, ...(legend ? [make("legend", {}, legend)] : []), ...rows.map((fields) => make("div", { className: "fields" }, ...fields)));
}
function more(summary, ...children) {
  return make("details", {}, make("summary", {}, summary), ...children);
}
const ticks = (columns) => columns.length ? [more("Columns to read", group("", columns.map((each) => tick(each.name))))] : [];
const tick = (name) => make("label", { className: "tick" }, make("input", { type: "checkbox", name: "read", value: name, checked: true }), name);
const inputs = (name) => [...$("form").querySelectorAll("[name=" + name + "]")];
const values = (name) => inputs(name).map((each) => each.value);
function wanted() {
  const read = inputs("read").filter((each) => each.checked);
  return read.length && read.length < inputs("read").length ? { readColumns: read.map((each) => ({ column: each.value })) } : {};
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const hints = [[/BINARY|BLOB|BIT/, "Base64"], [/^DATE\b/, "2026-02-28"], [/^TIME\b/, "12:00:00"], [/^(DATETIME|TIMESTAMP)/, "2026-02-28 12:00:00"],
  [/^ANY/, "17, or \"17\" for a text"]];
const columnOf = (name) => state.table.columns.find((each) => each.name === name);
// A typed text as a value for a column of that type. In an ANY column, digits in quotes are a text.
function typed(text, type) {
  if (/^(\w*INT|DECIMAL|FLOAT|DOUBLE|YEAR|ANY)\b/.test(type) && number.test(text)) return new Digits(text);
  if (type === "ANY" && text.startsWith("\"")) try { return JSON.parse(text); } catch { /* as it is */ }
  return text;
}
function inputFor({ name, type }, properties) {
  const made = make(properties.rows ? "textarea" : "input", { autocomplete: "off", spellcheck: false, "aria-describedby": "wrong",
    placeholder: hints.find(([kind]) => kind.test(type))?.[1] ?? "", ...properties });
  return Object.assign(made, { column: name, columnType: type });
}
// An input drops line ends, and a key must not become another row's: until the field is edited, its exact value is sent.
function fill(input, value) {
  const text = value instanceof Digits ? value.text : String(value ?? "");
  input.exact = value;
  if (value === null) input.placeholder = "NULL";
  input.value = input.columnType === "ANY" && typeof value === "string" && typed(text, "ANY") !== value ? JSON.stringify(value) : text;
}
const valueOf = (input) => input.exact ?? typed(input.value, input.columnType);

const keyFields = () => state.table.key.map(columnOf).map((each) => make("label", {}, each.name + " · " + each.type, inputFor(each, { name: "key" })));
const filtersOf = (fields) => fields.map((each) => ({ column: each.column, value: valueOf(each) }));
const others = () => state.table.columns.filter((each) => !state.table.key.includes(each.name));
const pathOf = (what) => encodeURIComponent(state.database.name) + "/" + encodeURIComponent(state.table.name) + "/" + what;
const urlOf = (what) => state.database.name + "/" + state.table.name + "/" + what;

// Fills in keys of rows that exist, so that the first request succeeds.
async function fillKeys() {
  const { turn, table } = state;
  try {
    const { text } = await ask("/0.2.0/" + pathOf("scan"), JSON.stringify({ limit: 2, readColumns: table.key.map((column) => ({ column })) }));
    const keys = parse(text).get("data").map((row) => table.key.map((name) => row.get(name))).filter((key) => !key.includes(null));
    if (turn !== state.turn || values("key").some(Boolean)) return;
    inputs("key").forEach((input, i) => fill(input, keys[Math.floor(i / table.key.length)]?.[i % table.key.length]));
    refresh();
  } catch { /* the fields stay empty */ }
}

// Why the page cannot write rows of this table; empty: it can.
function whyNotWritten() {
  if (!state.database.writable) return "This API key may read " + state.database.name + " but not write to it.";
  return whyNotBatched() || (state.refused.get(urlOf("")) ?? "");
}
function whyNotBatched() {
  return (state.database.name + state.table.name).includes("/")
    ? "A batch names its tables as database/table, and cannot name one that has a slash." : "";
}
function lock(why) {
  for (const each of $("form").elements) each.disabled = Boolean(why);
  if (why && !$("why")) $("form").prepend(make("p", { id: "why", className: "quiet" }, why));
}

// Forms: each makes a path and a body

function use(makeRequest, ...children) {
  state.make = makeRequest;
  $("form").replaceChildren(...children);
  lock("");
  refresh();
}
function refresh() {
  const { path, body } = state.make();
  state.path = "/0.2.0/" + path;
  $("body").value = textOf(body);
  showCurl();
}

// The fields of a column that may be written: its value, and whether that is written, NULL is, or neither.
function cellOf(column, i, row) {
  const { name, type, nullable, hasDefault } = column, old = row?.get(name);
  const input = inputFor(column, { name: "cell", id: "cell" + i, ...(/CHAR|TEXT|ANY/.test(type) ? { rows: 1 } : {}) });
  const options = [["", ""], ["value", "value"], ...(nullable ? [["null", "NULL"]] : [])];
  const how = make("select", { name: "how", ariaLabel: "What " + name + " becomes" }, ...options.map(([value, text]) => make("option", { value }, text)));
  let isChosen = false;
  how.oninput = () => { isChosen = true; };
  input.oninput = () => { isChosen = true; how.value = "value"; };
  if (row) fill(input, old);
  const usual = (action) => action === "pk-update" ? "" : old === null ? "null" : old !== undefined ? "value" : nullable || hasDefault ? "" : "value";
  return {
    parts: [make("label", { htmlFor: input.id }, name + " · " + type), input, how],
    follow(action) {
      how.options[0].textContent = actions[action][1];
      if (!isChosen) how.value = usual(action);
      input.classList.toggle("off", how.value !== "value");
    },
    written: () => how.value ? [{ column: name, value: how.value === "null" ? null : valueOf(input) }] : [],
  };
}

const forms = {
  row() {
    use(() => ({ path: pathOf("pk-read"), body: { filters: filtersOf(inputs("key")), ...wanted() } }),
      group("Primary key", keyFields()), ...ticks(others()));
  },
  batch() {
    const size = state.table.key.length;
    const rows = make("fieldset", {}, make("legend", {}, "Primary keys"));
    const add = () => rows.append(make("div", { className: "fields" }, ...keyFields(),
      make("button", { type: "button", onclick: (e) => { e.target.parentElement.remove(); refresh(); } }, "Remove")));
    add(); add();
    use(() => {
      const fields = inputs("key"), operations = [];
      for (let i = 0; i < fields.length; i += size)
        operations.push({ method: "POST", "relative-url": urlOf("pk-read"), body: { filters: filtersOf(fields.slice(i, i + size)), ...wanted() } });
      return { path: "batch", body: { operations } };
    }, rows, make("button", { type: "button", onclick: () => { add(); refresh(); } }, "Add a row"), ...ticks(others()));
    lock(whyNotBatched());
  },
  scan() {
    const names = state.table.columns.map((each) => each.name);
    const condition = () => [select("column", "Column", [["", "any"], ...names.map((name) => [name, name])]),
      select("cond", "Is", Object.entries(conditions)), field("value", "Value")];
    use(() => {
      const [columns, conds, given] = ["column", "cond", "value"].map(values);
      const tests = columns.flatMap((column, i) => !column ? [] : conds[i].startsWith("IS") ? [{ op: conds[i], column }]
        : [{ op: "CMP", column, cond: conds[i], value: typed(given[i], columnOf(column).type) }]);
      const filters = tests.reduceRight((right, left) => right ? { op: "AND", args: [left, right] } : left, null);
      const [index, order] = values("order")[0].split(" ");
      return { path: pathOf("scan"), body: { limit: Number(values("limit")[0]) || 0, ...wanted(), ...(filters ? { filters } : {}),
        ...(index === "PRIMARY" && order === "asc" ? {} : { index: { name: decodeURIComponent(index), order } }) } };
    }, more("Filter, order and columns", group("Rows where", condition(), condition()),
      group("Order and number", [select("order", "By", ["PRIMARY", ...state.table.indexes.map((each) => each.name)].flatMap((name) =>
        ["asc", "desc"].map((way) => [encodeURIComponent(name) + " " + way, (name === "PRIMARY" ? "primary key" : name) + (way === "asc" ? " ↑" : " ↓")]))),
      field("limit", "Rows at most", { type: "number", min: 0, value: 20 })]), group("Columns to read", names.map(tick))));
  },
  write() {
    const row = state.editing, key = keyFields();
    state.editing = null;
    if (row) key.forEach((each) => fill(each.lastChild, row.get(each.lastChild.column)));
    const cells = others().filter((each) => !each.generated).map((column, i) => cellOf(column, i, row));
    const contents = make("fieldset", {}, make("legend", {}, "Columns"), make("div", { className: "cells" }, ...cells.flatMap((each) => each.parts)));
    use(() => {
      const [action] = values("action"), isDelete = action === "pk-delete";
      cells.forEach((each) => each.follow(action));
      contents.hidden = isDelete || !cells.length;
      const writeColumns = isDelete ? [] : cells.flatMap((each) => each.written());
      return { path: isDelete ? "batchdelete" : "batchwrite", body: { operations: [{ method: "POST", "relative-url": urlOf(action),
        body: { filters: filtersOf(inputs("key")), ...(writeColumns.length ? { writeColumns } : {}) } }] } };
    }, group("", [select("action", "Action", Object.entries(actions).map(([action, [name]]) => [action, name]))]), group("Primary key", key), contents);
    if (row) { inputs("action")[0].value = "pk-update"; refresh(); }
    lock(whyNotWritten());
  },
  sql() {
    const { database, table } = state;
    const query = table ? "SELECT * FROM `" + table.name.replaceAll("`", "``") + "` LIMIT 20" : "SELECT 1 AS one";
    const note = !table ? ["The database " + database.name + " has no tables. These commands create one and fill it:", make("pre", {},
      "sqlite3 FOLDER/" + database.name + ".db 'CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT)'\n" + importOf(database.name + ".people"))]
      : table.key.length ? [] : ["This table has no primary key. Its rows are read by SQL, and cannot be written here."];
    use(() => {
      let [parameters] = values("parameters");
      try { parameters = parse(parameters || "[]"); } catch { /* as it is, for the server to refuse */ }
      const isNone = (parameters?.size ?? parameters?.length) === 0;
      return { path: "sql", body: { database: database.name, query: values("query")[0], ...(isNone ? {} : { parameters }), limit: Number(values("limit")[0]) || 0 } };
    }, ...(note.length ? [make("div", { className: "quiet" }, ...note)] : []),
    make("label", {}, "Query ", make("small", {}, "one SELECT"), make("textarea", { name: "query", rows: 3, spellcheck: false, value: query })),
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
function wrong(text) {
  $("wrong").textContent = text;
  $("wrong").hidden = !text;
  for (const each of [...inputs("key"), ...inputs("cell")]) each.ariaInvalid = text.endsWith("Column: " + each.column) ? "true" : null;
}
// Names what the body deletes, since the body may have been edited.
function isSure(sent) {
  let lines = [];
  try {
    lines = sent.get("operations").slice(0, 10).map((each) =>
      each.get("relative-url").replace(/\/[^/]*$/, ": ") + keyOf(each).map(([name, value]) => name + " = " + textOf(value)).join(", "));
  } catch { /* for the server to refuse */ }
  $("sure-text").textContent = ["Delete this row?", ...lines].join("\n");
  $("sure").showModal();
  return new Promise((done) => {
    $("sure-yes").onclick = () => { done(true); $("sure").close(); };
    $("sure-no").onclick = () => $("sure").close();
    $("sure").onclose = () => $("sure").open || done(false);  // open: the event is about an earlier question
  });
}
async function send() {
  if ($("work").hidden || $("send").disabled || $("sure").open || state.isWriting) return;
  const { path } = state, body = $("body").value, isWrite = /\/batch(write|delete)$/.test(path);
  let turn = state.turn, sent = null;
  try { sent = parse(body); } catch { /* for the server to refuse */ }
  if (path.endsWith("/batchdelete") && !await isSure(sent)) return;
  if (turn !== state.turn) return;
  turn = ++state.turn;
  state.isWriting = isWrite;
  wrong("");
  $("answer").hidden = false;
  $("status").textContent = "Asking…";
  const began = performance.now();
  try {
    const answer = await ask(path, body);
    if (turn !== state.turn) return;
    state.answer = { ...answer, sent, took: performance.now() - began };
    try { state.answer.value = parse(answer.text); } catch { /* text */ }
    showAnswer();
    if (isWrite && codeOf(state.answer) === 403) {
      state.refused.set(urlOf(""), messageOf(answer) + " (Reload this page to try again.)");
      lock(whyNotWritten());
    }
  } catch (why) {
    if (turn !== state.turn) return;
    $("answer").hidden = true;
    wrong("The server did not answer: " + why.message);
  }
  state.isWriting = false;
}
// The key in a request for one row, or in an operation of a batch.
function keyOf(asked) {
  const filters = (asked?.get("body") ?? asked)?.get("filters");
  return filters?.map?.((each) => [each.get("column"), each.get("value")]) ?? [];
}
// A row with its key, which replies leave out, in the order of the table.
function withKey(asked, data) {
  const order = new Map(state.table?.columns.map((each, i) => [each.name, i]));
  return new Map([...keyOf(asked), ...data].sort(([a], [b]) => order.get(a) - order.get(b)));
}
// What has become of what was asked: of a batch of one, that one's.
function codeOf({ code, value }) {
  const result = code === 200 && value instanceof Map ? value.get("result") : null;
  return result?.length === 1 ? Number(result[0].get("code").text) : code;
}
// The rows of any reply; null: it has none to show.
function rowsOf({ code, value, sent }) {
  const data = value instanceof Map ? value.get("data") : null;
  if (Array.isArray(data)) return data.map((row) => ({ row }));
  if (data instanceof Map) return code === 200 ? [{ row: withKey(sent, data) }] : null;
  if (!(value instanceof Map && Array.isArray(value.get("result")))) return null;
  return value.get("result").map((each, i) => {
    const asked = sent?.get("operations")?.[i];
    return { code: each.get("code"), message: each.get("message"), url: asked?.get("relative-url"), row: withKey(asked, each.get("body").get("data")) };
  });
}
function showAnswer() {
  const { text, took, code, value, sent } = state.answer;
  const rows = rowsOf(state.answer), told = state.kind === "write" ? codeOf(state.answer) : code;
  const facts = [took.toFixed(1) + " ms", new Blob([text]).size.toLocaleString("en") + " bytes"];
  if (rows) facts.push(rows.length + (rows.length === 1 ? " row" : " rows"));
  if (value instanceof Map && value.get("truncated")) facts.push("there are more");
  const isWrite = state.kind === "write";
  if (code >= 400) wrong(value instanceof Map && value.has("data") ? "There is no such row." : messageOf(state.answer));
  else if (isWrite) wrong(rows?.map((each) => each.message).filter(Boolean).join("\n") ?? "");
  const isEmpty = state.kind === "scan" && rows?.length === 0 && sent?.size === 1 && sent.get("limit")?.text !== "0";
  $("status").replaceChildren(make("b", { className: told < 400 ? "good" : "bad" }, String(told)), " · " + facts.join(" · "),
    ...(isEmpty ? [make("br"), "The table is empty. Write inserts a row; this command fills it: ",
      make("code", {}, importOf(state.database.name + "." + state.table.name))] : []));
  const view = rows?.length ? state.view : "json";
  $("views").hidden = !rows?.length;
  replace("views", ["table", "json"].map((each) => make("button", {
    type: "button", "aria-pressed": String(each === view), onclick: () => { state.view = each; showAnswer(); } }, each === "json" ? "JSON" : "Table")));
  $("shown").replaceChildren(view === "table" ? tableOf(rows) : make("pre", { className: "json" }, ...(value === undefined ? [text] : pretty(value, ""))));
  $("next").hidden = !(value instanceof Map && value.get("continuation"));
}
const importOf = (table) => "weftd import FILE.csv --data FOLDER --table " + (/^[\w.]+$/.test(table) ? table : quoted(table));
const keyTextOf = (row) => state.table.key.map((name) => name + " = " + textOf(row.get(name))).join(", ");
// For a row that the form for writes can name.
function editOf({ code, url, row }) {
  const isNamed = state.table.key.every((name) => (row.get(name) ?? null) !== null) && (url ?? urlOf("pk-read")) === urlOf("pk-read");
  if (!isNamed || code?.text === "404") return [];
  const edit = () => { state.editing = row; go(state.database.name, state.table.name, "write"); };
  return [make("button", { type: "button", ariaLabel: "Edit " + keyTextOf(row), onclick: edit }, "Edit")];
}
function tableOf(rows) {
  const names = [...new Set(rows.flatMap(({ row }) => [...row.keys()]))];
  const isEditable = ["scan", "row", "batch"].includes(state.kind) && !whyNotWritten();
  const [hasCodes, hasMessages] = ["code", "message"].map((part) => rows.some((each) => each[part] !== undefined));
  const line = (does, code, cells, message) => make("tr", {}, ...(isEditable ? [make("td", { className: "does" }, ...does)] : []),
    ...(hasCodes ? [code] : []), ...cells, ...(hasMessages ? [message] : []));
  const head = (name, isNumber) => make("th", { scope: "col", className: isNumber ? "number" : "" }, name);
  const isNumber = (name) => rows.some(({ row }) => row.get(name) instanceof Digits);
  return make("table", {},
    make("thead", {}, line([], head("code", true), names.map((name) => head(name, isNumber(name))), head("message"))),
    make("tbody", {}, ...rows.map((each) =>
      line(isEditable ? editOf(each) : [], cell(each.code), names.map((name) => cell(each.row.get(name))), cell(each.message)))));
}
function cell(value) {
  if (value instanceof Digits) return make("td", { className: "number" }, value.text);
  if (value === null) return make("td", { className: "null" }, "null");
  const text = String(value ?? "");
  return make("td", { title: text.slice(0, 2000) }, text.length > 300 ? text.slice(0, 300) + "…" : text);
}
const textOf = (value) => make("pre", {}, ...pretty(value, "")).textContent;
function pretty(value, indent) {
  const part = (className, text) => make("span", { className }, text);
  if (value instanceof Digits) return [value.text];
  if (typeof value === "number") return [String(value)];
  if (value === null || typeof value === "boolean") return [part("null", String(value))];
  if (typeof value === "string") return [part("text", JSON.stringify(value))];
  const isList = Array.isArray(value), items = isList || value instanceof Map ? [...value] : Object.entries(value);
  if (!items.length) return [isList ? "[]" : "{}"];
  const deeper = indent + "  ";
  return [isList ? "[\n" : "{\n", ...items.flatMap((item, i) => [i ? ",\n" + deeper : deeper,
    ...(isList ? pretty(item, deeper) : [part("name", JSON.stringify(item[0])), ": ", ...pretty(item[1], deeper)])]), "\n" + indent + (isList ? "]" : "}")];
}

$("form").addEventListener("input", (e) => { delete e.target.exact; refresh(); });
$("form").addEventListener("submit", (e) => { e.preventDefault(); send(); });
$("body").addEventListener("input", showCurl);
$("next").addEventListener("click", () => {
  const { sent, value } = state.answer;
  $("body").value = textOf(new Map([...sent, ["continuation", value.get("continuation")]]));
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
