"""Python ends while other threads are in take."""

import threading
import time

import numpy as np
from gather import take

x, i = np.arange(1 << 20, dtype=np.float64), np.arange(1 << 20)


def forever():
    while True:
        take(x, i)


for k in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
