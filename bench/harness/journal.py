"""The rounds of a run, kept as they are measured: a line of JSON each, so that a run that was broken off goes on.

The first line, the head, says what is run. Only whole rounds are kept, for the servers of a round are compared with each
other, and have to be neighbours in time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

NAME = "rounds.jsonl"


class CannotResume(Exception):
    """There is nothing to go on with, or it is not of what would be measured now."""


class Journal:
    def __init__(self, path: Path, head: dict, rounds: dict[str, list[dict]]):
        self._path = path
        self.head = head
        self._rounds = rounds

    @staticmethod
    def begin(path: Path, head: dict) -> Journal:
        """Rounds that lie there are of another run, and are lost."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_line(head), encoding="utf-8")
        return Journal(path, head, {})

    @staticmethod
    def resume(path: Path) -> Journal:
        """What was being written when the run was killed is dropped."""
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            raise CannotResume(f"there are no rounds in {path.parent}; run without --resume") from None
        documents, whole = [], 0
        for line in written.splitlines(keepends=True):
            try:
                document = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            documents.append(document)
            whole += len(line)
        if not documents:
            raise CannotResume(f"{path} has no head; run without --resume")
        with path.open("r+b") as file:
            file.truncate(whole)
        rounds: dict[str, list[dict]] = defaultdict(list)
        for document in documents[1:]:
            rounds[document["workload"]].append(document["round"])
        return Journal(path, documents[0], rounds)

    def rounds(self, workload: str) -> list[dict]:
        """Those from before it was broken off."""
        return self._rounds.get(workload, [])

    def keep(self, workload: str, round_: dict) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line({"workload": workload, "round": round_}))

    def must_be_of(self, identity: dict[str, str]) -> None:
        """Raises CannotResume unless what would be measured now is what was measured before."""
        before = self.head["identity"]
        changed = [each for each in {**before, **identity} if before.get(each) != identity.get(each)]
        if changed:
            raise CannotResume(
                f"{changed[0]} is not what it was in the rounds before; run without --resume"
                + (f" ({len(changed) - 1} more differ)" if len(changed) > 1 else "")
            )


def _line(document: dict) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"
