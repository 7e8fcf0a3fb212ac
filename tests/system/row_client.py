"""Asks weftd for rows over one connection that stays open.

    with RowClient(server) as client:
        status, text = client.ask("shop/people/pk-read", {"filters": given(id=1)})
"""

import http.client
import json

VERSIONS = ("0.1.0", "0.2.0")
# Of an error of 0.2.0: what the RonDB REST server tells of NDB, and -1 where there is nothing to tell.
NDB_NUMBERS = ("status", "classification", "ndbCode", "mysqlCode")


def given(**values):
    """Columns and what they are: `filters` or `writeColumns`."""
    return [{"column": name, "value": value} for name, value in values.items()]


def named(*columns):
    """`readColumns`."""
    return [{"column": name} for name in columns]


def operation(url, body, method="POST"):
    return {"method": method, "relative-url": url, "body": body}


def of_one(answer):
    """(code, text) of a batch of writes that has one operation: its own code, or that of the whole."""
    status, text = answer
    return (json.loads(text)["result"][0]["code"] if status == 200 else status), text


class RowClient:
    def __init__(self, server, patience_s=60):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=patience_s)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, path, body, version="0.1.0", method="POST"):
        """(status, text) of the answer; a body that is no text or bytes is sent as JSON."""
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        sent = body.encode() if isinstance(body, str) else body
        self.connection.request(method, f"/{version}/{path}", sent)
        answer = self.connection.getresponse()
        self.headers = answer.headers
        self.type = answer.headers["content-type"]
        return answer.status, answer.read().decode()

    def write(self, *operations, version="0.1.0"):
        return self.ask("batchwrite", {"operations": operations}, version)

    def delete(self, *operations, version="0.1.0"):
        return self.ask("batchdelete", {"operations": operations}, version, "DELETE")

    def batch(self, *operations, version="0.1.0"):
        return self.ask("batch", {"operations": operations}, version)

    def results(self, path, *operations, method="POST"):
        """[(code, message)] of a batch that is answered with 200; version 0.1.0 tells the same codes, without messages."""
        status, text = self.ask(path, {"operations": operations}, "0.1.0", method)
        told_status, told = self.ask(path, {"operations": operations}, "0.2.0", method)
        assert (status, told_status) == (200, 200), (text, told)
        first, second = ([(each["code"], each.get("message")) for each in json.loads(of)["result"]] for of in (text, told))
        assert first == [(code, None) for code, _ in second], (text, told)
        return second

    def fault(self, path, body, method="POST"):
        """(status, message), which both versions tell in their own way."""
        status, text = self.ask(path, body, "0.1.0", method)
        assert self.type.startswith("text/plain"), (self.type, text)
        told_status, told = self.ask(path, body, "0.2.0", method)
        assert self.type == "application/json", (self.type, told)
        error = json.loads(told)["error"]
        assert (told_status, error["code"], error["message"]) == (status, status, text), (told, status, text)
        assert {name: error[name] for name in NDB_NUMBERS} == dict.fromkeys(NDB_NUMBERS, -1), told
        return status, text
