"""A child that is forked while threads work in take gets error 3 for each call, and the parent goes on."""

import os
import threading
import time
import warnings

import numpy as np
from gather import CudaError, DeviceArray, pinned_empty, take

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: of a fork with threads
x, i = np.arange(1 << 20, dtype=np.float64), np.arange(1 << 20)
d_x, d_i, done, codes = DeviceArray(x), DeviceArray(i), False, set()


def until_done():
    while not done:
        take(x, i)


thread = threading.Thread(target=until_done)
thread.start()
take(d_x, i[:10])
time.sleep(0.2)
calls = [
    lambda: take(x, i),
    lambda: take(d_x, i[:10]),
    lambda: take(d_x, d_i),
    lambda: take(d_x, d_i, mode="clip"),
    d_x.get,
    lambda: DeviceArray(x),
    lambda: pinned_empty(3),
]
for call in calls:
    child = os.fork()
    if child == 0:
        try:
            call()
            os._exit(99)
        except CudaError as error:
            os._exit(error.code)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done = True
thread.join()
print(codes, take(x, [7]))
