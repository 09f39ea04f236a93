"""The orders between the parent and a zygote: datagrams, the descriptors they need beside them."""

import struct

READY = b"ready"
SPAWN = b"S"
"""With `RATIONS` and a socket; answered by the child's number and its pidfd."""
REAP = b"W"
"""With a child's number; answered by its `ENDING`."""
RATIONS = struct.Struct("<IQI")
ENDING = struct.Struct("<iQ")
"""A wait status, and processor time in microseconds."""
UNSAFE = 97
"""Exit status of a child whose lock did not hold."""
