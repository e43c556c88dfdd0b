"""An exception of CUDA is caught, and the program goes on.

Build: make build
Run:   CUDA_VISIBLE_DEVICES= python3 catch.py
"""

import hello

try:
    hello.run_cuda()
except hello.CudaError as error:
    print(error.code, error.name)
print("Python goes on")
