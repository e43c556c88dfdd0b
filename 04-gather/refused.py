"""What people pass to cuda_gather: it takes care of each, or refuses it with an exception that says why.

Build: make build
Run:   python3 refused.py
"""

import numpy as np

from wrapper import cuda_gather

x = np.arange(5, dtype=np.float32)
for source, idx in (
    (x, [5]),  # a list
    (x, np.array([0, 5])),  # x has no element 5
    (x, np.array([2**32])),  # no int32 holds this number
    (x.astype(float), np.array([1])),  # float64
    (x[::-2], np.array([0])),  # strided: every second element, from the end
    (x, np.arange(1000)),  # many bad indices
):
    try:
        print(cuda_gather(source, idx))
    except (IndexError, TypeError) as error:
        print(type(error).__name__, error)
