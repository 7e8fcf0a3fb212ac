#!/usr/bin/env python3
"""Finds tasks that may outlive what they refer to.

    tools/check_lifetimes.py            the repository
    tools/check_lifetimes.py FOLDER     another tree of the same shape (its tests use this)

A task is lazy: it reads its arguments after the expression that made it, and its temporaries, may be gone. The rule is
that of weft/coro/task.hpp: a task owns what it keeps. So in a public header (weft/**.hpp, without `private:` parts,
`namespace detail`, and headers whose first comment says that they are internal)

  1. a function that returns task<>, generator<> or async_generator<> takes values, or `T&` to an object that outlives
     it. It takes no view (std::string_view, a span of const, const char*, a struct that has one), no `const T&` and no
     `T&&`: with such parameters it returns a borrowing_task<>, takes an owned_text, or has a comment that says
     what it takes "at the call"; then its body is no coroutine. `std::span<T>` of what is not const binds to no
     temporary, and counts as `T&`.
  2. a function that returns a borrowing_task<> has such parameters marked WEFT_LIFETIME_BOUND, so that Clang warns
     where the task outlives a temporary.

And in all code, documents included,

  3. a coroutine lambda with captures is not called where it stands, unless it is awaited there: the captures live in
     the lambda, which is gone before the task runs. `scope.spawn([=]() -> task<void> {...})` keeps it.

Each finding is one line, `file:line: what is wrong (the fix)`; the exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path

CODE = ("weft", "apps", "examples", "bench", "tests")
LAZY = r"(?:task|generator|async_generator)"
VIEW = re.compile(r"\bstring_view\b|\bspan<\s*const\b|\bspan<\s*std::byte const\b|\bconst char\s*\*|\bborrowed_text\b")
STRUCT = re.compile(r"\b(?:struct|class)\s+(?:\[\[.*?\]\]\s*)?(\w+)\s*(?:final\s*)?(?::[^{;()]*)?\{")
VIEW_MEMBER = re.compile(r"^\s*(?:const )?(?:std::)?(?:string_view|span<const [^;=]*>)\s+\w+\s*(?:\{[^;]*\}|=[^;]*)?;", re.MULTILINE)
BY_VALUE = re.compile(r"(?:const )?(?:\w+::)*(\w+)(?: \w+)?$")
CONST_REFERENCE = re.compile(r"\bconst\b[^&*]*&(?!&)|\bconst&")
RVALUE_REFERENCE = re.compile(r"&&")
DECLARATION = re.compile(rf"(?<![\w:])(?:[\w]+::)*({LAZY}|borrowing_task)<")
NAME = re.compile(r"\s+((?:[\w~]+::)*\w+)\s*\(")
ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")
DETAIL = re.compile(r"\bnamespace\s+(?:\w+::)*detail\b[^{;]*\{")
LAMBDA = re.compile(r"(?<![\w\])>])\[([^\[\]]*)\]\s*(?=[({]|mutable|->|<)")
COROUTINE = re.compile(r"\bco_(?:await|return|yield)\b")
AT_THE_CALL = re.compile(r"\bat the\s+(?:///\s*)?call\b")
CPP_BLOCK = re.compile(r"^```cpp[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def without_comments(text):
    """Of the same length: comments and literals are blanks."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    literals = r'R"(\w*)\(.*?\)\1"' + r"|//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<![\w'])'(?:\\.|[^'\\\n])+'"
    return re.sub(literals, blank, text, flags=re.DOTALL)


def closing(text, at, pairs="()"):
    """Behind the bracket that closes the one at `at`; None: none does."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == pairs[0]:
            depth += 1
        elif text[i] == pairs[1] and not (pairs == "<>" and text[i - 1] == "-"):
            depth -= 1
            if depth == 0:
                return i + 1
    return None


def parameters(text):
    """The list between two parentheses, taken apart."""
    found, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "(<[{") - (c in ")]}" or (c == ">" and text[i - 1] != "-"))
        if c == "," and depth == 0:
            found.append(text[begin:i])
            begin = i + 1
    found.append(text[begin:])
    return [" ".join(each.split("=")[0].split()) for each in found if each.strip()]


def hidden_spans(code):
    """What users do not call: private and protected parts of classes, and namespaces called detail."""
    hidden = []
    for found in re.finditer(r"\b(class|struct)\s+(?:\[\[.*?\]\]\s*)?[^;{}()]*\{", code):
        begin, end = found.end(), closing(code, found.end() - 1, "{}")
        if end is None:
            continue
        now, since, depth = "private" if found[1] == "class" else "public", begin, 0
        for part in re.finditer(r"[{}]|\b(?:public|private|protected)\s*:(?!:)", code[begin:end - 1]):
            if part[0] in "{}":
                depth += 1 if part[0] == "{" else -1
            elif depth == 0:
                if now != "public":
                    hidden.append((since, begin + part.start()))
                now, since = ACCESS.match(part[0])[1], begin + part.start()
        if now != "public":
            hidden.append((since, end))
    for found in DETAIL.finditer(code):
        hidden.append((found.start(), closing(code, found.end() - 1, "{}") or len(code)))
    return hidden


def is_public_header(path, text):
    head = text[:text.find("#pragma once")]
    return (path.parts[0] == "weft" and path.suffix == ".hpp" and not path.name.endswith("_test.hpp")
            and not re.search(r"\b[Ii]nternal\b|\b[Ii]nside of weft\b", head))


def structs_of_views(texts):
    """The names of structs with a member that is a view, but for those that something else is called as well."""
    seen = {}
    for code in map(without_comments, texts):
        for found in STRUCT.finditer(code):
            body = code[found.end():(closing(code, found.end() - 1, "{}") or len(code)) - 1]
            members = re.sub(r"\{[^{}]*\}", lambda inner: "{}" if "\n" in inner[0] else inner[0], body)
            seen.setdefault(found[1], []).append(found[0].startswith("struct") and bool(VIEW_MEMBER.search(members)))
    return {name for name, are_views in seen.items() if are_views == [True]}


def complaint_about(parameter, views=frozenset()):
    """Why a task must not keep it, or None."""
    bare = parameter.replace("WEFT_LIFETIME_BOUND", "").strip()
    by_value = BY_VALUE.match(bare)
    if VIEW.search(bare) or (by_value and by_value[1] in views):
        return "a view"
    if RVALUE_REFERENCE.search(bare):
        return "an rvalue reference"
    if CONST_REFERENCE.search(bare):
        return "a reference to const"
    return None


class Checker:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.views = structs_of_views(file.read_text() for file in root.glob("weft/**/*.hpp"))

    def report(self, path, text, at, what):
        self.findings.append(f"{path}:{text.count(chr(10), 0, at) + 1}: {what}")

    def functions(self, code):
        """Of each function declared with a lazy type: where, its type, its name, its parameters, where they end."""
        for found in DECLARATION.finditer(code):
            after = closing(code, found.end() - 1, "<>")
            named = after and NAME.match(code, after)
            end = named and closing(code, named.end() - 1)
            if end:
                yield found.start(), found[1], named[1], parameters(code[named.end():end - 1]), end

    def comment_before(self, text, at):
        """The lines of comment, and of the declaration's beginning, just above."""
        lines = text[:at].split("\n")
        said = [lines.pop()]
        while lines and (lines[-1].lstrip().startswith("///") or lines[-1].lstrip().startswith("template")
                         or lines[-1].lstrip().startswith("requires")):
            said.append(lines.pop())
        return "\n".join(reversed(said))

    def is_coroutine(self, path, name, code, end):
        """Whether a definition of that name, here or in the source beside it, has a coroutine's body."""
        bodies = [(code, end)] if code[end:].lstrip().startswith("{") else []
        source = (self.root / path).with_suffix(".cpp")
        if not bodies and source.exists():
            there = without_comments(source.read_text())
            bodies = [(there, e) for _, _, n, _, e in self.functions(there) if n.split("::")[-1] == name.split("::")[-1]]
        for text, at in bodies:
            begin = text.find("{", at)
            if begin >= 0 and COROUTINE.search(text[begin:closing(text, begin, "{}") or len(text)]):
                return True
        return False

    def check_declarations(self, path, text, code):
        hidden = hidden_spans(code)
        for at, lazy, name, given, end in self.functions(code):
            if any(begin <= at < stop for begin, stop in hidden):
                continue
            if code[end:].lstrip().startswith("= delete"):
                continue
            kept = [(each, complaint_about(each, self.views)) for each in given]
            kept = [(each, why) for each, why in kept if why]
            if lazy == "borrowing_task":
                for each, why in kept:
                    if "WEFT_LIFETIME_BOUND" not in each:
                        self.report(path, code, at, f"{name}() borrows `{each}` (mark it WEFT_LIFETIME_BOUND)")
                continue
            if kept and AT_THE_CALL.search(self.comment_before(text, at)):
                if self.is_coroutine(path, name, code, end):
                    self.report(path, code, at, f"{name}() says that it takes its arguments at the call, but is a "
                                "coroutine, which takes them when it is awaited (let it return another's task)")
                continue
            for each, why in kept:
                self.report(path, code, at, f"{name}() returns a {lazy} that keeps {why}, `{each}` (take a value, such as "
                            "owned_text, or return a borrowing_task)")

    def check_lambdas(self, path, text, code, whole=True):
        for found in LAMBDA.finditer(code):
            if not found[1].strip():
                continue
            at = found.end()
            head = code.find("{", at)
            if head < 0 or not re.fullmatch(r"(?:\s|\(.*\)|mutable|noexcept|->|[\w:<>,&* ]|requires)*", code[at:head],
                                            re.DOTALL):
                continue
            end = closing(code, head, "{}")
            if end is None or not re.match(r"\s*\(", code[end:]):
                continue
            body = code[head:end]
            is_lazy = re.search(rf"->\s*(?:\w+::)*(?:{LAZY}|borrowing_task)<", code[at:head]) or COROUTINE.search(body)
            statement = re.split(r"[;{}]", code[:found.start()])[-1]
            if is_lazy and "co_await" not in statement:
                self.report(path, text, found.start(), "a coroutine lambda with captures is called where it stands: they "
                            "are gone before its task runs (scope.spawn(lambda) keeps it; or pass them as parameters)")

    def check(self, path):
        text = (self.root / path).read_text()
        if path.suffix == ".md":
            for block in CPP_BLOCK.finditer(text):
                code = without_comments(block[1])
                padded = "\n" * text.count("\n", 0, block.start(1)) + code
                self.check_lambdas(path, padded, padded)
            return
        code = without_comments(text)
        self.check_lambdas(path, code, code)
        if is_public_header(path, text):
            self.check_declarations(path, text, code)

    def run(self):
        files = [file.relative_to(self.root) for folder in CODE for suffix in ("hpp", "cpp")
                 for file in sorted((self.root / folder).rglob(f"*.{suffix}"))]
        files += [file.relative_to(self.root) for file in [*self.root.glob("*.md"), *(self.root / "docs").rglob("*.md")]]
        for path in files:
            self.check(path)
        return len(files)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    checker = Checker(root)
    count = checker.run()
    for finding in checker.findings:
        print(finding)
    print(f"check_lifetimes: {count} files, {len(checker.findings)} findings")
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
