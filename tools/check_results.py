#!/usr/bin/env python3
"""Finds calls of the system and of C libraries whose result nobody reads.

    tools/check_results.py            the repository
    tools/check_results.py FOLDER     another tree of the same shape (its tests use this)
    tools/check_results.py --all      also those that say why: a table for people

A call that can fail is read, or says in a comment, on its line or on the one before, why its result does not
matter. That holds for `f();`, `std::ignore = f();`, `static_cast<void>(f());` and `[[maybe_unused]] x = f();`.
Each finding is one line, `file:line: call`; the exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path

FAMILIES = r"::[a-z]\w*|std::(?:fputs|fprintf|fwrite|fflush|fclose|fseek|puts|printf|rename|remove|signal|setvbuf|raise|system)|" \
           r"(?:io_uring|sqlite3|mysql|mariadb|ares|pthread|sig\w*set|nghttp2|SSL|SSL_CTX|X509\w*|EVP|BIO|RAND|HMAC)_\w+|" \
           r"sig(?:emptyset|addset|delset|fillset)"
CALL = re.compile(
    rf"^\s*(?:(?:else|if \(.*\)|for \(.*\)|while \(.*\)|do)\s+)?"
    rf"(?:std::ignore = |static_cast<void>\(!?|\[\[maybe_unused\]\] [\w:&* ]+ = )?({FAMILIES})\((?!\))")
CAST = re.compile(r"std::ignore = |static_cast<void>|\[\[maybe_unused\]\]")
# These give nothing, or nothing that could be acted upon.
WITHOUT_RESULT = re.compile(
    r"::(?:_exit|abort|exit|free|freeaddrinfo|memcpy|memset|memmove|operator|std|weft|testing)\b|"
    # Linux has given the descriptor back whatever close() says; what must be on a disk is synced before.
    r"::close\b|"
    # Clocks and facts of this process, into memory of the program's own; text of an address into room for it.
    r"::(?:clock_gettime|getrusage|uname|inet_ntop|malloc_trim)\b|"
    # Fail for no argument that is given here: memory that is the program's own, a set on the stack, a name.
    r"::munmap\b|(?:::)?sig(?:empty|add|del|fill)(?:set)?\b|::pthread_self\b|"
    r"::ares_(?:destroy|cancel|freeaddrinfo|getaddrinfo|process_fd|library_cleanup)\b|"
    r"io_uring_(?:prep_|sqe_set_|cq_advance|cqe_seen|buf_ring_|queue_exit|for_each)|"
    # Settings of a connection that is open, which SQLite takes without an error.
    r"sqlite3_(?:busy_timeout|limit|wal_hook|extended_result_codes)\b|"
    r"sqlite3_(?:free|result_|progress_handler|interrupt|set_authorizer|log|user_data|value_|reset|finalize|close|"
    r"clear_bindings|mutex_|update_hook|commit_hook)|"
    r"mysql_(?:close|free_result|stmt_close|server_end|thread_end|data_seek)|"
    r"(?:SSL|SSL_CTX)_(?:free|set_bio|set_accept_state|set_connect_state|set_verify|set_tlsext\w*|set_cert_verify\w*|"
    r"set_options|set_mode|set_session_cache_mode|set_timeout|set_alpn_select_cb|get0_alpn_selected|set_app_data|"
    r"set_info_callback|CTX_\w*)\b|"
    r"X509\w*_free\b|X509_STORE_CTX_set_time\b|BIO_(?:free|set_data|set_init|clear_retry_flags|set_retry_read|meth_set)\w*|"
    r"EVP_\w+_free\b|"
    # Fail for want of memory, which the session's next output says; and for streams that are gone.
    r"nghttp2_(?:session_(?:consume\w*|terminate_session|resume_data|set_stream_user_data)|submit_rst_stream|"
    r"hd_inflate_end_headers)\b|"
    r"nghttp2_(?:session_del|session_callbacks_(?:set|del)\w*|option_(?:set|del)\w*|hd_inflate_del)\b")
# Nobody is left to tell that stderr takes nothing.
TO_STDERR = re.compile(r"std::f(?:puts|printf|flush)\b[^;]*\bstderr\b")
COMMENT = re.compile(r"//\s*\S")


def statement_begins(before):
    """Whether what stands in the line before ends a statement, so that the next begins one."""
    code = before.split("//")[0].rstrip()
    return not code or code[-1] in ";{}:" or code.endswith((")", "else", "do"))


def findings(root):
    """(file, line, text, has a reason) of each dropped result."""
    for folder in ("weft", "apps"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            # What measures weft prints what it finds, and is no part of a service.
            if "weft-bench" in path.parts or path.stem.endswith(("_test", "_fuzz")) or folder == "weft" and "testing" in path.parts:
                continue
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines):
                found = CALL.match(line)
                if not found or WITHOUT_RESULT.match(found[1]):
                    continue
                if TO_STDERR.search(" ".join(lines[number:number + 3])):
                    continue
                before = lines[number - 1] if number else ""
                is_initializer = line.rstrip().endswith(")};")
                if not CAST.search(line) and (is_initializer or not statement_begins(before)):
                    continue
                reason = COMMENT.search(line) or before.strip().startswith("//") or before.rstrip().endswith("{") and \
                    number > 1 and lines[number - 2].strip().startswith("//")
                yield path.relative_to(root), number + 1, line.strip(), bool(reason)


def main():
    words = [word for word in sys.argv[1:] if word != "--all"]
    root = Path(words[0]) if words else Path(__file__).resolve().parent.parent
    every = list(findings(root))
    wrong = [each for each in every if not each[3]]
    for path, number, text, has_reason in every if "--all" in sys.argv else wrong:
        print(f"{path}:{number}: {text}" + ("" if has_reason else " (the result is read by nobody: read it, or say "
                                                                    "why it does not matter)"))
    print(f"check_results: {len(every)} results are dropped, {len(wrong)} without a reason")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
