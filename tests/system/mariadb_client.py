"""MariaDB's own client, kept open: what a test asks a server besides weftd.

    with MariadbClient(server) as client:
        client.run("CREATE DATABASE d")
        rows = client.ask("SELECT 1, 'x'")      # [("1", "x")]
"""

import itertools
import subprocess

from mariadb_server import PASSWORD, USER, find


class MariadbClient:
    """Texts come as the client's batch mode has them: ask for HEX() of what may have line ends."""

    def __init__(self, server, user=USER):
        self.process = subprocess.Popen(
            [find("mariadb"), "--no-defaults", "--user", user, "--socket", server.socket, "--batch", "--skip-column-names",
             "--unbuffered", "--force", "--default-character-set=utf8mb4"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"MYSQL_PWD": PASSWORD if user == USER else ""})
        self.numbers = itertools.count()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, text):
        """The rows of one statement, or of several."""
        end = f"end of {next(self.numbers)}"
        self.process.stdin.write(f"{text};\nSELECT '{end}';\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            line = line.removesuffix("\n")
            if line == end:
                return rows
            assert not line.startswith("ERROR "), f"{line}\n{text}"
            rows.append(tuple(line.split("\t")))
        raise AssertionError(f"the client has ended: {rows}")

    def locks_waited_for(self):
        return int(self.ask("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1])

    def run(self, *statements):
        for each in statements:
            self.ask(each)
