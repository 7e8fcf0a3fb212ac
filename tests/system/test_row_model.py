"""Random tables and random requests: weftd says what a model says, and what the engine's own client says of the same rows.

One sequence is a table and what is asked of it. WEFT_MODEL_SEQUENCES=10000 tries more of them, a fifth of that on a server,
WEFT_MODEL_SEED=n others.
"""

import json
import os
import random
import signal

import pytest
from model_engines import Mariadb, Sqlite, quoted
from row_client import VERSIONS, RowClient, given, named, operation
from row_engines import mariadb
from row_model import ABSENT, Column, Refused, Table, draw_filter, draw_ranges, sent_filter, sql_filter
from weft_process import Server

USUAL = 1000
SEQUENCES = int(os.environ.get("WEFT_MODEL_SEQUENCES", USUAL))
SEED = int(os.environ.get("WEFT_MODEL_SEED", "1"))
A_SERVER = 1000   # sequences that one weftd serves
A_MARIADB = 400   # and one that asks a server, which takes longer
A_DATABASE = 100  # and one of its databases
STEPS = 20
LONG_SECONDS_MAX = 3600


@pytest.fixture(autouse=True)
def patient(bounded):
    """Who asks for many has time."""
    if SEQUENCES > USUAL:
        signal.alarm(LONG_SECONDS_MAX)


class Sequence:
    def __init__(self, seed, client, database, table, others):
        self.seed, self.client, self.database, self.table, self.engine = seed, client, database, table, table.engine
        self.chance = random.Random(seed)
        self.url = f"{database}/{table.name}"
        self.others = others  # sequences that have been run

    def run(self):
        steps = [self.read, self.read_many, self.write, self.write, self.write, self.remove, self.scan, self.scan, self.write_elsewhere]
        if self.engine.name == "sqlite":  # others look at the schema now and then
            steps.append(self.alter)
        for self.step in range(STEPS):
            self.chance.choice(steps)()
        self.compare_rows()

    def same(self, told, expected, asked):
        assert told == expected, f"seed {self.seed}, step {self.step}, {self.table.definition()}\n{asked}\ntold:     {told}\nexpected: {expected}"

    def draw_columns(self):
        """readColumns, or None, and the columns that come."""
        content = self.table.content
        if not content or self.chance.random() < 0.3:
            return self.chance.choice([{}, {"readColumns": None}, {"readColumns": []}]), content
        some = self.chance.sample(content, self.chance.randint(1, len(content)))
        return {"readColumns": named(*[each.name for each in some])}, some

    def draw_read(self, step):
        """(body, code, data, what 0.2.0 says)"""
        drawn = self.table.draw_key(self.chance)
        wanted, columns = self.draw_columns()
        body = {"filters": self.table.filters(drawn, self.chance), **wanted, "operationId": str(step)}
        place = self.table.place(drawn)
        if self.chance.random() < 0.05:
            body["filters"] = body["filters"] + given(nosuch=1)
            return body, 400, "{}", "Wrong number"
        if place in self.table.rows:
            return body, 200, self.table.data(place, columns), None
        return body, 404, "{}", "the row does not exist"

    def read(self):
        body, code, data, _ = self.draw_read(self.step)
        status, text = self.client.ask(f"{self.url}/pk-read", body, self.chance.choice(VERSIONS))
        if code == 400:
            return self.same(status, 400, body)
        self.same((status, text), (code, '{"code":%d,"operationId":"%d","data":%s}' % (code, self.step, data)), body)

    def read_many(self):
        of = self.chance.choices([self, self, *self.others], k=self.chance.randint(1, 10))
        drawn = [each.draw_read(self.step) for each in of]
        version = self.chance.choice(VERSIONS)
        status, text = self.client.batch(*[operation(f"{each.url}/pk-read", body) for each, (body, *_) in zip(of, drawn)], version=version)
        results = json.loads(text)["result"]
        self.same((status, len(results)), (200, len(drawn)), drawn)
        told = []
        for each, (_, code, data, message) in zip(results, drawn):
            told.append('{"code":%d,"body":{"operationId":"%d","data":%s}' % (code, self.step, data))
            if message and version == "0.2.0":
                assert each["message"].startswith(message), each
                told[-1] += ',"message":' + json.dumps(each["message"], ensure_ascii=False)
            told[-1] += "}"
        self.same(text, '{"result":[%s]}' % ",".join(told), drawn)

    def draw_write(self, action):
        """(action, key, new content, what is sent)"""
        drawn = self.table.draw_key(self.chance)
        possible = [each for each in self.table.content if not each.generated_from]
        some = self.chance.sample(possible, self.chance.randint(0, len(possible))) if possible else []
        if action == "pk-delete":
            some = []
        new = {each.name: each.draw(self.chance) for each in some}
        body = {"filters": self.table.filters(drawn, self.chance), "operationId": "w"}
        if action != "pk-delete":
            body["writeColumns"] = given(**{name: value[0] for name, value in new.items()})
        return action, drawn, new, body

    def change(self, path, actions):
        drawn = [self.draw_write(action) for action in actions]
        version = self.chance.choice(VERSIONS)
        status, text = self.client.ask(path, {"operations": [operation(f"{self.url}/{action}", body) for action, _, _, body in drawn]}, version)
        before = dict(self.table.rows)
        try:
            for number, (action, _, new, _) in enumerate(drawn):
                if action in ("pk-update", "pk-write") and not new:
                    raise Refused(400)
            told = []
            for number, (action, key, new, _) in enumerate(drawn):
                was_there = self.table.write(action, key, new)
                missing = ',"message":"the row does not exist"' if version == "0.2.0" and not was_there else ""
                told.append('{"code":%d,"body":{"operationId":"w","data":{}}%s}' % (200 if was_there else 404, missing))
            self.same((status, text), (200, '{"result":[%s]}' % ",".join(told)), drawn)
        except Refused as why:
            self.table.rows = before
            self.same(status, why.args[0], (drawn, text))
            assert f"operation {number}: " in text, (text, number)

    def write(self):
        self.change("batchwrite", self.chance.choices(["pk-insert", "pk-update", "pk-write"], k=self.chance.randint(1, 6)))

    def remove(self):
        self.change("batchdelete", ["pk-delete"] * self.chance.randint(1, 3))

    def scan(self):
        table, chance = self.table, self.chance
        index = chance.choice([None, None, *table.indexes])
        columns = index.columns if index else table.key
        asked, descending, bounds, tree = {}, False, [], None
        if index or chance.random() < 0.5:
            used = columns[:chance.randint(1, len(columns))]
            ranges, bounds = draw_ranges(used, chance)
            descending = chance.random() < 0.5
            asked["index"] = {"name": index.name if index else "PRIMARY", "key_columns": [each.name for each in used],
                              "ranges": ranges, "order": "desc" if descending else "asc"}
        if chance.random() < 0.6:
            tree = draw_filter(table, chance)
            asked["filters"] = sent_filter(tree)
        some = chance.sample(table.columns, chance.randint(1, len(table.columns)))
        if chance.random() < 0.5:
            asked["readColumns"] = named(*[each.name for each in some])
        else:
            some = table.columns
        places = [place for place in table.ordered(index, descending)
                  if (not bounds or any(table.within(place, columns, each) for each in bounds)) and (tree is None or table.holds(place, tree))]
        if tree is not None and not bounds:
            values = []
            where = sql_filter(self.engine, tree, values)
            self.same(self.engine.count(self.database, table.name, where, values), len(places), ("SQL of", where, values))
        self.follow(asked, [table.data(place, some) for place in places])

    def follow(self, asked, rows):
        """All parts of a scan."""
        asked["limit"] = self.chance.choice([1, 2, 5, 1000])
        while True:
            status, text = self.client.ask(f"{self.url}/scan", asked, self.chance.choice(VERSIONS))
            part, rows = rows[:asked["limit"]], rows[asked["limit"]:]
            rest = json.loads(text).get("continuation") if status == 200 else None
            expected = '{"data":[%s],"rows":%d%s}' % (",".join(part), len(part), f',"continuation":{json.dumps(rest)}' if rest else "")
            self.same((status, text, bool(rest)), (200, expected, bool(rows)), asked)
            if not rest:
                return
            asked["continuation"] = rest

    def write_elsewhere(self):
        """Another program removes rows, and one puts another in, as SQL has it."""
        table = self.table
        if table.rows and self.chance.random() < 0.5:
            place = self.chance.choice(list(table.rows))
            where = " AND ".join(f"{quoted(each.name, self.engine.mark)}={{}}" for each in table.key)
            removed = self.engine.run(self.database, f"DELETE FROM {table.name} WHERE {where}",
                                      [(each.declared, table.rows[place][each.name]) for each in table.key])
            self.same(removed, 1, place)
            del table.rows[place]
            return
        drawn = table.draw_key(self.chance)
        columns = [each for each in table.content if not each.generated_from]
        new = {each.name: each.draw(self.chance) for each in columns}
        before = dict(table.rows)
        try:
            table.write("pk-insert", drawn, new)
        except Refused:
            table.rows = before
            return
        values = [(of.declared, value) for of, value in zip(table.key, drawn)] + [(each.declared, new[each.name]) for each in columns]
        self.engine.run(self.database, f"INSERT INTO {table.name}({table.names(table.key + columns)}) VALUES({','.join(['{}'] * len(values))})", values)

    def alter(self):
        """Another program adds a column, which is seen once a row is read."""
        if self.chance.random() < 0.7:
            return
        added = Column(f"added{self.step}", "INT", [ABSENT] + [(n, str(n), n) for n in range(3)])
        self.engine.run(self.database, f"ALTER TABLE {self.table.name} ADD COLUMN {added.definition(self.engine)}", [])
        self.table.columns.append(added)
        for row in self.table.rows.values():
            row[added.name] = ABSENT
        key = self.table.draw_key(self.chance)
        place = self.table.place(key)
        each = operation(f"{self.url}/pk-read", {"filters": self.table.filters(key, self.chance)})
        expected = '{"code":404,"body":{"operationId":"","data":{}}}'
        if place in self.table.rows:
            expected = '{"code":200,"body":{"operationId":"","data":%s}}' % self.table.data(place, self.table.content)
        other = self.others[-1] if self.others else self
        between = operation(f"{other.url}/pk-read", {"filters": other.table.filters(other.table.draw_key(self.chance), self.chance)})
        status, text = self.client.batch(each, between, each)
        self.same((status, text.startswith(f'{{"result":[{expected},'), text.endswith(f",{expected}]}}")), (200, True, True), (each, text))

    def compare_rows(self):
        rows = [[row[each.name] for each in self.table.columns] for row in self.table.rows.values()]
        self.same(self.engine.has_just(self.database, self.table.name, self.table.columns, rows), True, rows)


def run_sequences(weftd, engine, seeds):
    tables = {seed: Table.draw(engine, f"t{seed}", random.Random(-seed)) for seed in seeds}
    database_of = {seed: f"d{at // A_DATABASE}" for at, seed in enumerate(seeds)}
    for name in dict.fromkeys(database_of.values()):
        engine.make(name, [statement for seed, table in tables.items() if database_of[seed] == name for statement in table.definition()])
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *engine.arguments]) as server, RowClient(server) as client:
        done = []
        for seed, table in tables.items():
            done.append(Sequence(seed, client, database_of[seed], table, done[-3:]))
            done[-1].run()
        assert server.stop() == 0, server.log
    engine.end()


@pytest.mark.parametrize("begin", range(0, SEQUENCES, A_SERVER))
def test_weftd_says_what_a_model_says(weftd, tmp_path, begin):
    first = SEED * 1_000_000
    run_sequences(weftd, Sqlite(tmp_path), range(first + begin, first + min(begin + A_SERVER, SEQUENCES)))


@pytest.mark.parametrize("begin", range(0, SEQUENCES // 5, A_MARIADB))
def test_weftd_says_what_a_model_says_of_a_server(weftd, tmp_path, begin):
    first = SEED * 1_000_000
    with mariadb(tmp_path) as server:
        run_sequences(weftd, Mariadb(server), range(first + begin, first + min(begin + A_MARIADB, SEQUENCES // 5)))
