"""What hostile submissions try, as data: each with the outcome that it must have, and the level from which it must.

Nothing here is imported by a test process to be run in it: the sources are texts.
"""

# ruff: noqa: E501 # one attack, one line

from __future__ import annotations

from dataclasses import dataclass

LOOPS = {"timeout"}
STOPPED = {"raised"}


@dataclass(frozen=True)
class Attack:
    """`source` is loaded, then `attack()` is called; the last outcome must be one of `kinds`."""

    name: str
    source: str
    kinds: set[str]
    level: int = 0
    error: str = ""
    """The exception's type, as a regular expression."""
    value: object = "any"
    """What must have come back, where the attack reports its own success."""
    calls: int = 1


def _call(body: str) -> str:
    return "def attack():\n" + "".join(f"    {line}\n" for line in body.strip("\n").splitlines())


REFUSED = "PermissionError|OSError|BlockingIOError|FileNotFoundError"

_CHANNEL = """
import sys
def channel():
    return sys.stdout.buffer.raw._channel
"""
TIME = [
    Attack("loop at import", "while True: pass", LOOPS),
    Attack("loop in the call", _call("while True: pass"), LOOPS),
    Attack(
        "loop that ignores signals",
        "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\n"
        + _call("while True: pass"),
        LOOPS,
    ),
    Attack("loop that catches all", _call("while True:\n    try:\n        while True: pass\n    except: pass"), LOOPS),
    Attack("sleep", _call("import time\ntime.sleep(60)"), LOOPS),
    Attack("a power too far", _call("return 10 ** 10 ** 9"), LOOPS | STOPPED),
    Attack("a regular expression without end", _call("import re\nre.match('(a+)+$', 'a' * 64 + 'b')"), LOOPS),
    Attack("wait for input from the channel", _CHANNEL + _call("import os\nos.read(channel()._source, 100)"), LOOPS),
    Attack("an exception that loops when printed", _call("class E(Exception):\n    def __str__(s):\n        while True: pass\nraise E"), LOOPS),
    Attack("a list without end", _call("import itertools\nclass L(list):\n    def __iter__(s): return itertools.count()\nreturn L([1])"), LOOPS | STOPPED),
    Attack("silent flood", _call("import os\nwhile True: os.write(1, b'x' * 65536)"), LOOPS),
    Attack("endless recursion in a lock", _call("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"), LOOPS),
    Attack("a loop that waits for the last call", "n = 0\n" + _call("global n\nn += 1\nwhile n == 3: pass"), LOOPS, calls=3),
]  # fmt: skip

RESOURCES = [
    Attack("one huge block", _call("bytearray(1 << 42)"), STOPPED, error="MemoryError"),
    Attack("block after block", _call("kept = []\nwhile True: kept.append(bytearray(1 << 24))"), STOPPED, error="MemoryError"),
    Attack("a huge array", _call("import numpy\nreturn numpy.ones((1 << 17, 1 << 17))"), STOPPED, error=".*MemoryError"),
    Attack("fork", _call("import os\nos.fork()"), STOPPED, error=REFUSED),
    Attack("fork bomb", _call("import os\nfor _ in range(300):\n    try: os.fork()\n    except OSError: continue\n    return 'forked'\nraise OSError"), STOPPED, error="OSError"),
    Attack("threads", _call("import _thread, time\n_thread.start_new_thread(time.sleep, (9,))"), STOPPED, error="RuntimeError|error"),
    Attack("a process by subprocess", _call("import subprocess\nsubprocess.run(['/bin/true'])"), STOPPED, error=f"{REFUSED}|ModuleNotFoundError"),
    Attack("a command", _call("import os\nreturn os.system('true') == 0"), {"returned"}, value=False),
    Attack("deep recursion", _call("f = lambda n: f(n + 1)\nf(0)"), STOPPED, error="RecursionError"),
    Attack("deeper recursion", _call("import sys\nsys.setrecursionlimit(1 << 30)\nclass A:\n    def __repr__(s): return repr(s)\nrepr(A())"), {"crashed", "raised"}),
    Attack("raise the limits", _call("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (999, 999))"), STOPPED, error="ValueError|PermissionError|ModuleNotFoundError"),
    Attack("raise the memory limit", _call("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))"), STOPPED, error="ValueError|PermissionError|ModuleNotFoundError"),
    Attack("print for ever", _call("while True: print('x' * 1000)"), {"flooded"}),
    Attack("print for ever to stderr", _call("import sys\nwhile True: print('x' * 1000, file=sys.stderr)"), {"flooded"}),
    Attack("empty prints for ever", _CHANNEL + _call("c = channel()\nwhile True: c.reply(b'P', b'')"), {"flooded"}),
    Attack("one long print", _call("print('x' * (1 << 22))"), {"flooded"}),
    Attack("a flood at import", "while True: print('x' * 1000)", {"flooded"}),
    Attack("a big reply", _call("import numpy\nreturn numpy.zeros(1 << 22)"), {"too-big"}),
    Attack("a reply that is nominally huge", _call("import numpy\nreturn numpy.broadcast_to(numpy.zeros(1), (1 << 50,))"), {"too-big"}),
    Attack("a nest of lists", _call("a = []\na.append(a)\nreturn a"), {"returned"}),
    Attack("a long list", _call("return [0] * 10 ** 6"), {"returned"}),
    Attack("an error text without end", _call("raise ValueError('x' * (1 << 26))"), STOPPED, error="ValueError"),
    Attack("an error text that answers for itself", "class S(str):\n    def __getitem__(s, key): return s\n    def encode(s, *_): return b'x' * (1 << 26)\nclass E(Exception):\n    def __str__(s): return S('x')\n" + _call("raise E"), {"exited", "raised", "too-big"}),
    Attack("an error of ten thousand classes", _call("C = ValueError\nfor n in range(400): C = type('C' * 400, (C,), {'__module__': 'builtins'})\nraise C"), {"exited", "raised", "too-big"}),
]  # fmt: skip

EXITS = [
    Attack("sys.exit", _call("import sys\nsys.exit(0)"), {"exited"}, error="SystemExit"),
    Attack("sys.exit at import", "import sys\nsys.exit(0)", {"exited"}, error="SystemExit"),
    Attack("os._exit", _call("import os\nos._exit(0)"), {"exited"}),
    Attack("os._exit at import", "import os\nos._exit(0)", {"exited"}),
    Attack("the status of an unsafe lock", _call("import os\nos._exit(97)"), {"exited"}),
    Attack("an interrupt at import", "raise KeyboardInterrupt", STOPPED, error="KeyboardInterrupt"),
    Attack("a generator's exit", _call("raise GeneratorExit"), STOPPED, error="GeneratorExit"),
    Attack("segmentation fault", _call("import ctypes\nctypes.string_at(0)"), {"crashed"}),
    Attack("abort", _call("import os\nos.abort()"), {"crashed"}),
    Attack("atexit", "import atexit, os\natexit.register(lambda: open(CANARY + '/atexit', 'w'))\n" + _call("import sys\nsys.exit()"), {"exited"}),
    Attack("an exception that exits when printed", _call("import os\nclass E(Exception):\n    def __str__(s): os._exit(0)\nraise E"), {"exited"}),
    Attack("an exception that cannot be printed", _call("class E(Exception):\n    def __str__(s): raise SystemExit\nraise E"), STOPPED, error="E"),
    Attack("a crash in the next call", "n = 0\n" + _call("global n\nn += 1\nif n == 2:\n    import ctypes\n    ctypes.string_at(0)"), {"crashed"}, calls=2),
    Attack("streams taken away", _call("import sys\nsys.stdout.close()\nsys.stderr = None\nsys.modules.clear()"), {"exited", "returned", "raised"}),
]  # fmt: skip

CHANNEL = [
    Attack("garbage on the channel", _CHANNEL + _call("import os\nos.write(channel()._sink, b'\\xff' * 100)"), {"garbled"}),
    Attack("a frame without end", _CHANNEL + _call("import os, struct\nos.write(channel()._sink, struct.pack('<16scI', bytes(16), b'R', 1 << 31))"), {"garbled"}),
    Attack("a reply before the question", _CHANNEL + _call("c = channel()\nc.reply(b'R', b'T\\x02\\0\\0\\0NT\\0\\0\\0\\0')"), {"garbled"}, calls=2),
    Attack("a reply that is too long", _CHANNEL + _call("import os, struct\nc = channel()\nos.write(c._sink, struct.pack('<16scI', c._id, b'R', (1 << 32) - 1))"), {"too-big"}),
    Attack("a reply that is no value", _CHANNEL + _call("channel().reply(b'R', b'Z')"), {"garbled"}),
    Attack("two replies to one question", _CHANNEL + _call("channel().reply(b'R', b'T\\x02\\0\\0\\0NT\\0\\0\\0\\0')"), {"garbled"}, calls=2),
    Attack("an error where a reply is due, and then the reply", _CHANNEL + _call("channel().reply(b'N', b'')"), {"garbled"}, calls=2),
    Attack("an empty array as long as the world", _CHANNEL + _call("import struct\nchannel().reply(b'R', b'T\\x02\\0\\0\\0Af8\\x08' + struct.pack('<8Q', 0, *[1 << 31] * 7) + b'T\\0\\0\\0\\0')"), {"garbled"}),
    Attack("a frame of another kind", _CHANNEL + _call("channel().reply(b'J', b'')"), {"garbled"}),
    Attack("a callback where none is provided", _CHANNEL + _call("channel().reply(b'K', b'T\\x03\\0\\0\\0S\\1\\0\\0\\0fT\\0\\0\\0\\0T\\0\\0\\0\\0')"), {"garbled"}),
    Attack("close the channel", _CHANNEL + _call("import os\nos.close(channel()._sink)"), {"exited"}),
    Attack("close everything", _call("import os\nos.closerange(0, 100)"), {"exited", "crashed"}),
    Attack("objects that lie about their class", _call("import numpy\nlies = [property(lambda s, c=c: c) for c in (numpy.ndarray, tuple, str, float, bool, int)]\nreturn [type('L', (), {'__class__': lie})() for lie in lies[:1]], *[type('L', (), {'__class__': lie})() for lie in lies[3:]]"), {"returned", "raised"}),
    Attack("a syntax error with odd parts", _call("raise SyntaxError('x', ([], 'y', 10 ** 400, object()))"), {"raised", "exited"}),
    Attack("an exception of an odd class", "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\n" + _call("raise E"), {"raised", "exited"}),
    Attack("patched built-ins", _call("import builtins\nbuiltins.len = lambda x: 0\nbuiltins.isinstance = lambda *a: True\nreturn 1"), {"raised", "returned", "exited", "garbled", "timeout"}),
    Attack("patched struct and NumPy", _call("import struct, numpy\nstruct.pack = lambda *a: b''\nnumpy.allclose = lambda *a, **k: True\nnumpy.asarray = lambda a: a\nreturn 1"), {"returned", "raised"}),
    Attack("search memory for the answers", _call("import gc\nneedle = 'the-expected' + '-values'\nreturn any(needle in repr(o) for o in gc.get_objects() if type(o) in (str, bytes, dict))"), {"returned"}, value=False),
    Attack("search the frames for the answers", _call("import sys\nf = sys._getframe()\nfound = False\nneedle = 'the-expected' + '-values'\nwhile f:\n    found |= f.f_code.co_name != 'attack' and needle in str(f.f_locals)\n    f = f.f_back\nreturn found"), {"returned"}, value=False),
]  # fmt: skip

_TRY = """
def opened(*attempts):
    done = []
    for name, attempt in attempts:
        try:
            attempt()
        except (OSError, ImportError):
            continue
        done.append(name)
    return ' '.join(done)
"""
FILES = [
    Attack("read the system", _TRY + _call("import os\nreturn opened(*[(p, lambda p=p: open(p).read(1)) for p in ('/etc/passwd', '/etc/hostname', '/proc/1/environ', '/proc/self/environ', '/proc/self/maps', '/proc/self/mem', '/proc/net/tcp', '/dev/mem', '/dev/tty')])"), {"returned"}, 1, value=""),
    Attack("list folders", _TRY + _call("import os\nreturn opened(*[(p, lambda p=p: os.listdir(p)) for p in ('/', '/proc', '/etc', '/tmp', '/home', '/root', '/dev', '.')])"), {"returned"}, 1, value=""),
    Attack("read a neighbour", _call("return open(CANARY + '/answers.txt').read()"), STOPPED, 1, REFUSED),
    Attack("read the product", _call("return open(PRODUCT + '/errors.py').read()"), STOPPED, 1, REFUSED),
    Attack("read through NumPy", _TRY + _call("import numpy\nreturn opened(('fromfile', lambda: numpy.fromfile(CANARY + '/answers.txt', 'u1')), ('loadtxt', lambda: numpy.loadtxt(CANARY + '/answers.txt')), ('memmap', lambda: numpy.memmap(CANARY + '/answers.txt')))"), {"returned"}, 1, value=""),
    Attack("import the product", "import sdpa_cli.attention", STOPPED, 0, "ModuleNotFoundError"),
    Attack("import its packages", "import sys\nsys.path.append(SITE)\n" + _TRY + _call("return opened(*[(n, lambda n=n: __import__(n)) for n in ('yaml', 'rich', 'typer', 'pip', 'scipy', 'torch', 'sdpa_cli.attention', 'pyseccomp')])"), {"returned"}, 1, value=""),
    Attack("write", _TRY + _call("import os\nreturn opened(*[(p, lambda p=p: open(p + '/sdpa-written', 'w')) for p in (CANARY, '/tmp', '/dev/shm', '/var/tmp', '.', '/', '/dev', '/usr/lib')])"), {"returned"}, 1, value=""),
    Attack("append and update", _TRY + _call("return opened(*[(m, lambda m=m: open(CANARY + '/answers.txt', m)) for m in ('a', 'r+', 'w', 'x+')])"), {"returned"}, 1, value=""),
    Attack("a nameless file", _TRY + _call("import os\nreturn opened(('tmpfile', lambda: os.open('/tmp', os.O_TMPFILE | os.O_RDWR)), ('memfd', lambda: os.memfd_create('x')))"), {"returned"}, 1, value=""),
    Attack("shared memory", _TRY + _call("from multiprocessing import shared_memory\nreturn opened(('shm', lambda: shared_memory.SharedMemory(create=True, size=64)))"), {"returned", "raised"}, 1, value=""),
    Attack("what was left open", _call("import fcntl\nfound = []\nfor n in range(4096):\n    try: fcntl.fcntl(n, fcntl.F_GETFD)\n    except OSError: continue\n    found.append(n)\nreturn found"), {"returned", "raised"}, 0, value=[0, 1, 2, 3]),
    Attack("descriptors opened anew through /proc", "import os\n" + _call("found = []\nnull = os.stat(0)\nfor n in range(32):\n    for flags in (os.O_RDONLY, os.O_RDWR):\n        try: got = os.open(f'/proc/self/fd/{n}', flags)\n        except OSError: continue\n        if os.fstat(got).st_rdev != null.st_rdev: found.append(n)\n        os.close(got)\nreturn found"), {"returned"}, 1, value=[]),
    Attack("neighbours through /proc", _TRY + _call("import os\nown = os.getpid()\ntries = [(f'{pid}/{name}', lambda p=pid, n=name: open(f'/proc/{p}/{n}', 'rb').read(1)) for pid in range(1, 300) if pid != own for name in ('mem', 'environ', 'maps', 'cmdline', 'fd/0', 'fd/3', 'root/etc/passwd', 'cwd/etc/passwd')]\nreturn opened(*tries)"), {"returned"}, 1, value=""),
    Attack("a path opened as a place, then as a file", _TRY + _call("import os\ndef read():\n    place = os.open('/etc', os.O_PATH | os.O_DIRECTORY)\n    return os.read(os.open('passwd', os.O_RDONLY, dir_fd=place), 1)\ndef again():\n    place = os.open(CANARY + '/answers.txt', os.O_PATH)\n    return os.read(os.open(f'/proc/self/fd/{place}', os.O_RDONLY), 1)\nreturn opened(('beneath', read), ('again', again))"), {"returned"}, 1, value=""),
    Attack("remove, rename, link, change", _TRY + _call("import os\nf = CANARY + '/answers.txt'\nreturn opened(('remove', lambda: os.remove(f)), ('rename', lambda: os.rename(f, f + '2')), ('link', lambda: os.link(f, f + '3')), ('symlink', lambda: os.symlink(f, f + '4')), ('chmod', lambda: os.chmod(f, 0o777)), ('mkdir', lambda: os.mkdir(f + '5')), ('truncate', lambda: os.truncate(f, 0)), ('utime', lambda: os.utime(f)), ('mkfifo', lambda: os.mkfifo(f + '6')), ('chdir', lambda: os.chdir('/tmp')), ('chroot', lambda: os.chroot('/tmp')))"), {"returned"}, 1, value=""),
]  # fmt: skip

_RAW = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def raw(*numbers):
    return ' '.join(name for name, *args in numbers if libc.syscall(*args) >= 0)
"""
SYSTEM = [
    Attack("kill the parent", _call("import os\nos.kill(os.getppid(), 9)"), STOPPED, 1, REFUSED),
    Attack("kill everyone", _call("import os\nos.kill(-1, 9)"), STOPPED, 1, REFUSED),
    Attack("kill the group", _call("import os\nos.killpg(0, 9)"), STOPPED, 1, REFUSED),
    Attack("sockets", _TRY + _call("import socket\nreturn opened(('tcp', socket.socket), ('unix', lambda: socket.socket(socket.AF_UNIX)), ('pair', socket.socketpair), ('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))"), {"returned"}, 1, value=""),
    Attack("become another program", _call("import os\nos.execv('/bin/sh', ['sh', '-c', 'true'])"), STOPPED, 1, REFUSED),
    Attack("spawn", _call("import os\nos.posix_spawn('/bin/true', ['true'], {})"), STOPPED, 1, REFUSED),
    Attack("become root again", _TRY + _call("import os\nreturn opened(('setuid', lambda: os.setuid(0)), ('setresuid', lambda: os.setresuid(0, 0, 0)), ('setgroups', lambda: os.setgroups([0])))"), {"returned"}, 0, value=""),
    Attack("who am I", _call("import os\nreturn 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid())"), {"returned"}, 0, value=False),
    Attack("raw calls (x86-64)", _RAW + _call("return raw(('ptrace', 101, 0, 0, 0, 0), ('vm_readv', 310, 1, 0, 0, 0, 0, 0), ('io_uring', 425, 1, 0), ('unshare', 272, 0x10000000), ('clone', 56, 17, 0, 0, 0, 0), ('vfork', 58), ('bpf', 321, 0, 0, 0), ('userfaultfd', 323, 0), ('memfd', 319, b'x', 0), ('perf', 298, 0, 0, 0, -1, 0), ('keyctl', 250, 0, -3, 0), ('mount', 165, 0, 0, 0, 0, 0), ('setns', 308, 0, 0), ('openat2', 437, -100, b'/etc/passwd', 0, 0), ('open', 2, b'/etc/passwd', 0), ('tgkill', 234, 1, 1, 0), ('pidfd', 434, 1, 0), ('shmget', 29, 0, 4096, 0o1600), ('mq_open', 240, b'q', 0o102, 0o600, 0), ('personality', 135, 0), ('prctl', 157, 4, 1, 0, 0, 0), ('setrlimit', 160, 0, 0), ('seccomp', 317, 1, 0, 0), ('name_to_handle', 303, -100, b'/', 0, 0, 0), ('finit', 313, 0, b'', 0), ('sendmsg', 46, 3, 0, 0), ('x32 getpid', 0x40000000 + 39), ('setsid', 112), ('inotify', 294, 0))"), {"returned", "crashed"}, 1, value=""),
    Attack("newer and rarer raw calls (x86-64)", _RAW + _call("import os\nup = os.getppid()\nreturn raw(('pidfd_getfd', 438, 3, 0, 0), ('pidfd_open', 434, up, 0), ('clone3', 435, 0, 0), ('process_madvise', 440, 3, 0, 0, 4, 0), ('io_uring_enter', 426, 3, 1, 0, 0, 0, 0), ('io_uring_register', 427, 3, 0, 0, 0), ('memfd_secret', 447, 0), ('kcmp', 312, up, up, 0, 0, 0), ('vm_writev', 311, up, 0, 0, 0, 0, 0), ('prlimit of the parent', 302, up, 0, 0, 0), ('prlimit', 302, 0, 0, b'\\0' * 16, 0), ('sigqueue', 129, up, 0, 0), ('tkill', 200, up, 0), ('kill 0', 62, up, 0), ('alarm', 37, 0), ('setitimer', 38, 0, 0, 0), ('timer', 222, 0, 0, 0), ('affinity', 203, up, 8, b'\\1' + b'\\0' * 7), ('priority', 141, 0, up, 19), ('splice', 275, 3, 0, 0, 0, 1, 0), ('vmsplice', 278, 1, 0, 0, 0), ('sendfile', 40, 1, 3, 0, 1), ('execveat', 322, -100, b'/bin/true', 0, 0, 0), ('fanotify', 300, 0, 0), ('fsopen', 430, b'proc', 0), ('open_tree', 428, -100, b'/', 0), ('modify_ldt', 154, 0, 0, 0), ('arch_prctl', 158, 0x1003, 0), ('add_key', 248, b'user', b'x', b'x', 1, -3), ('semget', 64, 0, 1, 0o1600), ('msgget', 68, 0, 0o1600), ('eventfd', 290, 0, 0), ('epoll', 291, 0), ('signalfd', 289, -1, b'\\0' * 8, 8, 0), ('timerfd', 283, 1, 0), ('pipe', 293, b'\\0' * 8, 0), ('socketpair', 53, 1, 1, 0, b'\\0' * 8), ('recvmsg', 47, 3, 0, 0), ('accept', 288, 3, 0, 0, 0), ('dup2', 33, 0, 1), ('dup3', 292, 0, 1, 0), ('flock', 73, 0, 2), ('landlock', 444, 0, 0, 1), ('pivot_root', 155, b'/', b'/'), ('setresuid', 117, 0, 0, 0), ('capset', 126, 0, 0), ('syslog', 103, 3, 0, 0), ('chmod', 90, b'/tmp', 0o777), ('mknod', 133, b'/tmp/sdpa-w', 0o10644, 0), ('renameat2', 316, -100, b'/tmp', -100, b'/tmp2', 0), ('fallocate', 285, 0, 0, 0, 1), ('fsync', 74, 0), ('getdents of the root', 217, 0, b'\\0' * 64, 64))"), {"returned", "crashed"}, 1, value=""),
    Attack("a system call of the other width (x86-64)", _RAW + _call("libc.mmap.restype = ctypes.c_void_p\npage = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))\nctypes.memmove(page, bytes.fromhex('b814000000cd80c3'), 8)\nreturn ctypes.CFUNCTYPE(ctypes.c_int)(page)()"), {"crashed"}, 1),
    Attack("controls of descriptors (x86-64)", _RAW + _call("return raw(('TIOCSTI', 16, 0, 0x5412, b'x'), ('TIOCSTI on the channel', 16, 3, 0x5412, b'x'), ('F_SETOWN', 72, 3, 8, 1), ('F_SETFL', 72, 3, 4, 0), ('F_SETSIG', 72, 3, 10, 9), ('F_ADD_SEALS', 72, 3, 1033, 1), ('F_NOTIFY', 72, 3, 1026, 1))"), {"returned"}, 1, value=""),
    Attack("rarer controls of descriptors (x86-64)", _RAW + _call("return raw(('F_SETLK', 72, 0, 6, b'\\0' * 32), ('F_OFD_SETLK', 72, 0, 37, b'\\0' * 32), ('F_SETLEASE', 72, 0, 1024, 0), ('F_SETPIPE_SZ', 72, 0, 1031, 4096), ('F_GETOWN', 72, 3, 9, 0), ('FIONBIO', 16, 3, 0x5421, b'\\1\\0\\0\\0'), ('FIOASYNC', 16, 3, 0x5452, b'\\1\\0\\0\\0'), ('SIOCGIFCONF', 16, 3, 0x8912, b'\\0' * 16), ('SIOCSPGRP', 16, 3, 0x8902, b'\\1\\0\\0\\0'))"), {"returned"}, 1, value=""),
]  # fmt: skip

ATTACKS = [*TIME, *RESOURCES, *EXITS, *CHANNEL, *FILES, *SYSTEM]
