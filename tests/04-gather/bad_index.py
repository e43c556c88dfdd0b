"""A bad index is NumPy's IndexError, word for word, for the first bad one."""

import numpy as np
from wrapper import cuda_gather


def words(function, *arguments):
    try:
        return repr(function(*arguments))
    except IndexError as error:
        return f"IndexError: {error}"


x = np.arange(5, dtype=np.float32)
many = np.zeros(1000000, np.int32)
many[654321], many[999999] = 77, -78
bad = [[5], [-6], [0, 1, 7, -9], [2**31 - 1], [-(2**31)]]
bad64 = [[2**31], [2**32], [-(2**31) - 1], [2**63 - 1], [-(2**63)], [1, 2**32 + 1]]
cases = [(x, np.array(i, t)) for t in (np.int32, np.int64) for i in bad] + [(x, np.array(i, np.int64)) for i in bad64]
cases += [(x, many), (x[:0], np.array([0], np.int32)), (x[:0], np.array([-1], np.int64))]
for a, idx in cases:
    ours, numpys = words(cuda_gather, a, idx), words(lambda a, idx: a[idx], a, idx)
    if not numpys.startswith("IndexError") or ours != numpys:
        print("NOT NUMPY'S:", ours, numpys)
print(len(cases), "looked at;", words(cuda_gather, x, many))
print(cuda_gather(x, np.array([4, -5], np.int64)))  # and the next call works
