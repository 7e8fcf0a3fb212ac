// Writes a database with each type that knex has, by a SQLite in WebAssembly: write_by_knex.js FILE
"use strict";
const path = require("node:path");
const modules = process.env.NODE_MODULES;
const knex = require(path.join(modules, "knex"))({ client: "better-sqlite3", useNullAsDefault: true });
const { Database } = require(path.join(modules, "node-sqlite3-wasm"));

const moment = new Date("2026-01-02T03:04:05.678Z");
const values = {
  big: [(t, n) => t.bigInteger(n), [9007199254740993n, -9223372036854775808n, 0n]],
  tiny: [(t, n) => t.tinyint(n), [-128, 0, 127]],
  small: [(t, n) => t.smallint(n), [-32768, 0, 32767]],
  flag: [(t, n) => t.boolean(n), [1, 0, 1]],
  name: [(t, n) => t.string(n, 20), ["Ada", "", "\u20ac"]],
  note: [(t, n) => t.text(n), ["1", "x".repeat(300), "a\r\nb"]],
  rate: [(t, n) => t.float(n), [0.1, 1e300, 2.5]],
  exact: [(t, n) => t.double(n), [0.1, 5e-324, 2.5]],
  price: [(t, n) => t.decimal(n, 10, 2), [12.5, -0.01, 7]],
  born: [(t, n) => t.date(n), ["2026-01-02", moment.getTime(), "1815-12-10"]],
  seen: [(t, n) => t.datetime(n), [moment.getTime(), "2026-01-02 03:04:05", moment.toISOString()]],
  at: [(t, n) => t.time(n), ["12:34:56", "12:34:56.789", "00:00:00"]],
  stamp: [(t, n) => t.timestamp(n), [moment.getTime(), "2026-01-02 03:04:05", moment.toISOString()]],
  data: [(t, n) => t.binary(n), [new Uint8Array([0, 255]), new Uint8Array([]), new Uint8Array([65])]],
  choice: [(t, n) => t.enu(n, ["a", "b"]), ["a", "b", "a"]],
  document: [(t, n) => t.json(n), ['{"a": [1]}', "[]", '"text"']],
  documents: [(t, n) => t.jsonb(n), ['{"a": [1]}', "[]", '"text"']],
  other: [(t, n) => t.uuid(n), ["550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000001", "x"]],
  own: [(t, n) => t.specificType(n, "UUID"), ["550e8400-e29b-41d4-a716-446655440000", "00000000000000000000000000000001", "1e5"]],
};
const database = new Database(process.argv[2]);
const make = (name, columns) => knex.schema.createTable(name, columns).toSQL().forEach((each) => database.run(each.sql, each.bindings));
const insert = (table, row) => database.run(
  `INSERT INTO ${table}(${Object.keys(row).map((name) => `"${name}"`)}) VALUES(${Object.keys(row).map(() => "?")})`, Object.values(row));

make("everything", (t) => { t.increments("id"); for (const [name, [add]] of Object.entries(values)) add(t, name); });
for (const name of Object.keys(values)) make(`by_${name}`, (t) => { values[name][0](t, "id").primary(); t.text("note"); });
for (let i = 0; i < 3; ++i) {
  insert("everything", Object.fromEntries(Object.entries(values).map(([name, [, each]]) => [name, each[i]])));
  for (const [name, [, each]] of Object.entries(values)) if (each.indexOf(each[i]) === i) insert(`by_${name}`, { id: each[i], note: String(i) });
}
database.close();
