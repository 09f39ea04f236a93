"""What runs behind the wall: the zygote, the lock and the loop that serves one submission.

Nothing here may know an expected value. These files are loaded by path into a bare interpreter, so they import only
Python, NumPy and one another; `wire` is the one module that both sides of the wall share.
"""
