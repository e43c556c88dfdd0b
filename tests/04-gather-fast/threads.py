"""Threads that share a source, pin it, or upload it, and let go of it while others work with it."""
import threading

import numpy as np
from gather import DeviceArray, pin, take

x, few, many = np.arange(1 << 18, dtype=np.float64), np.arange(1000), np.arange(1 << 17)
shared = [DeviceArray(x), x]
done, wrong = threading.Event(), []


def work(source, index, **more):
    while not done.is_set():
        if not (take(source(), index, **more) == x[index]).all():
            wrong.append("WRONG")


jobs = [
    ((lambda: shared[0]), few),
    ((lambda: shared[0]), many),
    ((lambda: x), few),
    ((lambda: DeviceArray(x)), many),
]
threads = [threading.Thread(target=work, args=job) for job in jobs for _ in range(2)]
for thread in threads:
    thread.start()
for k in range(30):
    shared[0] = DeviceArray(x)  # the one before goes when nobody works with it any more
    y = x.copy()
    with pin(y):
        wrong += ["WRONG"] * (not (take(y, few) == y[few]).all())
done.set()
for thread in threads:
    thread.join()
print(wrong or "right")
