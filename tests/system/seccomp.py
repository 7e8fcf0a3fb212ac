"""Forbids a system call to a child process: io_uring, as the default policy of many container runtimes does.

    subprocess.Popen(command, preexec_fn=forbid_io_uring)
    subprocess.Popen([sys.executable, seccomp.__file__, "ENOSYS", "signalfd4", *command])
"""

import ctypes
import errno
import functools
import os
import re
import subprocess
import sys

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_ALLOW = 0x7FFF0000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
OFFSET_OF_NUMBER = 0                                 # in struct seccomp_data
IO_URING_SETUP = 425                                 # the same number on every architecture


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("if_true", ctypes.c_ubyte), ("if_false", ctypes.c_ubyte),
                ("operand", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


_prctl = ctypes.CDLL(None, use_errno=True).prctl


@functools.cache
def numbers():
    """The number of each system call on this architecture, as the C compiler knows it."""
    macros = subprocess.run(["clang-19", "-E", "-dM", "-include", "sys/syscall.h", "-xc", os.devnull],
                            capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", macros, re.MULTILINE)}


def forbid(number, code=errno.EPERM):
    """From now on the system call of that number fails with `code` in this process."""
    instructions = (Instruction * 4)(
        Instruction(LOAD_WORD, 0, 0, OFFSET_OF_NUMBER),
        Instruction(JUMP_IF_EQUAL, 0, 1, number),
        Instruction(RETURN, 0, 0, SECCOMP_RET_ERRNO | code),
        Instruction(RETURN, 0, 0, SECCOMP_RET_ALLOW))
    program = Program(len(instructions), instructions)
    if _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    if _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def forbid_io_uring():
    forbid(IO_URING_SETUP)


if __name__ == "__main__":
    # ERRNO NUMBER COMMAND...: becomes the command, where threads of the caller forbid a preexec_fn.
    forbid(int(sys.argv[2]), getattr(errno, sys.argv[1]))
    os.execv(sys.argv[3], sys.argv[3:])
