"""A CUDA failure is an exception, and Python goes on."""

import pickle
import numpy as np
import wrapper

for _ in range(2):
    try:
        wrapper.cuda_gather(np.zeros(4, np.float32), np.zeros(2, np.int32))
    except wrapper.CudaError as error:
        print(error.code, error.name, error.text, sep=", ")
        print(repr(pickle.loads(pickle.dumps(error))), isinstance(error, RuntimeError))
print("Python goes on")
