"""What a table holds and what weftd must say of it: a model that knows no SQL engine.

Made for a seed: a table of random types, and what is in it. Values are triples as in test_row_types: what is sent, the
JSON that is told, and what the database keeps; the latter's order is that of sqlite.org/datatype3.html, section 4.1, or what
model_engines says of another engine.
"""

import json
from dataclasses import dataclass, field
from decimal import Decimal

from model_engines import quoted
from row_client import given

ABSENT = (None, "null", None)  # NULL, as a value


def order_of(kept):
    """NULL, numbers, texts, bytes."""
    if kept is None:
        return (0, 0)
    if isinstance(kept, (int, float, Decimal)):
        return (1, kept)
    return (2, kept.encode()) if isinstance(kept, str) else (3, kept)


@dataclass
class Column:
    name: str
    declared: str
    values: list
    nullable: bool = True
    default: tuple = None    # of a column that is NOT NULL
    unique: bool = False
    generated_from: str = None

    def definition(self, engine):
        text = f"{quoted(self.name, engine.mark)} {self.declared}"
        if self.generated_from:
            return f"{text} AS ({quoted(self.generated_from, engine.mark)} IS NULL)"
        if not self.nullable:
            text += " NOT NULL"
        if self.default:
            text += f" DEFAULT ({engine.literal(self.declared, self.default)})"
        return text + (" UNIQUE" if self.unique else "")

    def draw(self, chance):
        return chance.choice(self.values)


def values_of(engine, kind, chance):
    values = [each for each in kind.taken if len(str(each[0])) < 300]
    if "INT" in kind.declared:
        values += [(n, str(n), n) for n in chance.sample(range(100), 8)]
    if kind.declared in ("TEXT", "VARCHAR(50)"):
        values += [(f"v{n}", f'"v{n}"', f"v{n}") for n in chance.sample(range(100), 8)]
    return [engine.value(kind, *each) for each in values]


@dataclass
class Index:
    name: str
    columns: list


class Refused(Exception):
    """A batch of writes that is not done, and with which status."""


@dataclass
class Table:
    engine: object
    name: str
    columns: list
    key: list
    rowid: bool
    indexes: list
    rows: dict = field(default_factory=dict)  # by what is kept of the key; columns to values

    @staticmethod
    def draw(engine, name, chance):
        names = iter(chance.sample(["id", "Id2", "naïve", "a b", 'q"uote', "select", "d", "e1", "κ", "it's", "f", "g"], 12))
        kinds = chance.choices(engine.key_types, k=chance.choice([1, 1, 2, 3]))
        key = [Column(next(names), engine.declared(kind), values_of(engine, kind, chance), nullable=False) for kind in kinds]
        content = []
        for kind in chance.choices(engine.types, k=chance.randrange(6)):
            column = Column(next(names), engine.declared(kind), values_of(engine, kind, chance), nullable=chance.random() < 0.7)
            if not column.nullable and chance.random() < 0.5:
                column.default = column.draw(chance)
            column.unique = chance.random() < 0.1
            if column.nullable:
                column.values += [ABSENT] * (len(column.values) // 3 + 1)
            content.append(column)
        if content and chance.random() < 0.3:
            content.append(Column(next(names), "BOOLEAN", [(0, "0", 0), (1, "1", 1)], generated_from=content[0].name))
        columns = key + content
        if chance.random() < 0.3:
            chance.shuffle(columns)
        chance.shuffle(key)
        indexed = [each for each in content if not each.generated_from and engine.indexed(each.declared)]
        indexes = [Index(f"{name}_{n}", chance.sample(indexed, chance.randint(1, min(2, len(indexed)))))
                   for n in range(chance.randrange(3)) if indexed]
        return Table(engine, name, columns, key, chance.random() < 0.5, indexes)

    def names(self, columns):
        return ",".join(quoted(each.name, self.engine.mark) for each in columns)

    def definition(self):
        """In statements."""
        parts = [each.definition(self.engine) for each in self.columns]
        end = self.engine.table_end(self.rowid)
        return [f"CREATE TABLE {self.name}({', '.join(parts)}, PRIMARY KEY({self.names(self.key)})){end}",
                *[f"CREATE INDEX {each.name} ON {self.name}({self.names(each.columns)})" for each in self.indexes]]

    @property
    def content(self):
        return [each for each in self.columns if each not in self.key]

    def place(self, drawn):
        """Where the row of a key is: `drawn` in the key's order."""
        return tuple(value[2] for value in drawn)

    def draw_key(self, chance):
        """Often of a row that is there, said in another way perhaps."""
        if self.rows and chance.random() < 0.6:
            row = self.rows[chance.choice(list(self.rows))]
            return [chance.choice([value for value in each.values if value[2] == row[each.name][2]]) for each in self.key]
        return [each.draw(chance) for each in self.key]

    def filters(self, drawn, chance):
        pairs = list(zip(self.key, drawn))
        chance.shuffle(pairs)
        return given(**{each.name: value[0] for each, value in pairs})

    def data(self, place, columns):
        row = self.rows[place]
        return "{%s}" % ",".join(f"{json.dumps(each.name, ensure_ascii=False)}:{row[each.name][1]}" for each in columns)

    # Writes; each changes `rows`, or raises Refused.

    def compute(self, row):
        for each in self.columns:
            if each.generated_from:
                is_null = row[each.generated_from][2] is None
                row[each.name] = (int(is_null), str(int(is_null)), int(is_null))

    def keep(self, place, row, missing=()):
        self.compute(row)
        if missing:
            raise Refused(400)
        for each in self.columns:
            if each.unique and row[each.name][2] is not None and any(
                    other != place and kept[each.name][2] == row[each.name][2] for other, kept in self.rows.items()):
                raise Refused(409)
        self.rows[place] = row

    def write(self, action, drawn, new):
        """Whether there was a row to be written."""
        place = self.place(drawn)
        is_there = place in self.rows
        if action == "pk-delete":
            self.rows.pop(place, None)
            return is_there
        if is_there and action != "pk-insert":
            self.keep(place, {**self.rows[place], **new})
            return True
        if action == "pk-update":
            return False
        row = {each.name: value for each, value in zip(self.key, drawn)}
        missing = []
        for each in self.content:
            row[each.name] = new.get(each.name) or each.default or ABSENT
            if not each.generated_from and not each.nullable and row[each.name] is ABSENT:
                missing.append(each)
        if is_there and not missing:
            raise Refused(409)
        self.keep(place, row, missing)
        return True

    # Scans.

    def ordered(self, index, descending):
        """The places of all rows, as the index or the key has them."""
        by = (index.columns if index else []) + [each for each in self.key if not index or each not in index.columns]
        return sorted(self.rows, key=lambda place: [order_of(self.rows[place][each.name][2]) for each in by], reverse=descending)

    def holds(self, place, tree):
        """SQL's three answers."""
        op = tree["op"]
        if op in ("AND", "OR", "NAND", "NOR"):
            left, right = (self.holds(place, each) for each in tree["args"])
            decides = op in ("OR", "NOR")  # what one of them alone decides by
            both = decides if decides in (left, right) else None if None in (left, right) else not decides
            return both if op in ("AND", "OR") or both is None else not both
        kept = self.rows[place][tree["column"]][2]
        if op in ("ISNULL", "ISNOTNULL"):
            return (kept is None) == (op == "ISNULL")
        return compared([kept], [tree["kept"]], tree["cond"])

    def within(self, place, columns, bounds):
        """Whether it is in a range, both of whose ends are (values, inclusive) or None."""
        kept = [self.rows[place][each.name][2] for each in columns]
        for bound, inside, at in zip(bounds, ("GT", "LT"), ("GE", "LE")):
            if bound and not compared(kept[:len(bound[0])], [value[2] for value in bound[0]], at if bound[1] else inside):
                return False
        return True


CONDITIONS = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
              "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}


def compared(left, right, condition):
    """Row values: the first that differ decide, and NULL is unknown."""
    for a, b in zip(left, right):
        if a is None or b is None:
            return None
        if order_of(a) != order_of(b):
            return CONDITIONS[condition](order_of(a), order_of(b))
    return CONDITIONS[condition](0, 0)


def draw_filter(table, chance, depth=0):
    """A tree; comparisons have what is kept of their value, beside what is sent."""
    if depth < 3 and chance.random() < 0.5:
        return {"op": chance.choice(["AND", "OR", "NAND", "NOR"]), "args": [draw_filter(table, chance, depth + 1) for _ in range(2)]}
    column = chance.choice(table.columns)
    values = [value for value in column.values if value[2] is not None]
    if chance.random() < 0.2:
        return {"op": chance.choice(["ISNULL", "ISNOTNULL"]), "column": column.name}
    value = chance.choice(values)
    return {"op": "CMP", "column": column.name, "cond": chance.choice(list(CONDITIONS)), "value": value[0], "kept": value[2],
            "as_sql": (column.declared, value)}


def sent_filter(tree):
    if "args" in tree:
        return {**tree, "args": [sent_filter(each) for each in tree["args"]]}
    return {key: value for key, value in tree.items() if key not in ("kept", "as_sql")}


def sql_filter(engine, tree, values):
    """The same as SQL says it; {} stands for each of the values."""
    if "args" in tree:
        left, right = (sql_filter(engine, each, values) for each in tree["args"])
        both = f"({left} {'AND' if tree['op'] in ('AND', 'NAND') else 'OR'} {right})"
        return both if tree["op"] in ("AND", "OR") else f"NOT {both}"
    name = quoted(tree["column"], engine.mark)
    if tree["op"] != "CMP":
        return f"({name} IS {'' if tree['op'] == 'ISNULL' else 'NOT '}NULL)"
    values.append(tree["as_sql"])
    sign = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}[tree["cond"]]
    return f"({name} {sign} {{}})"


def draw_ranges(columns, chance):
    """(what is sent, [(lower, upper)])"""
    sent, bounds = [], []
    for _ in range(chance.randrange(4)):
        one = {}
        pair = []
        for end in ("lower", "upper"):
            drawn = None
            if chance.random() < 0.8:
                values = [chance.choice([value for value in each.values if value[2] is not None])
                          for each in columns[:chance.randint(1, len(columns))]]
                drawn = (values, chance.random() < 0.5)
                one[end] = {"values": [value[0] for value in values], "inclusive": drawn[1]}
            pair.append(drawn)
        sent.append(one)
        bounds.append(pair)
    return sent, bounds

