load helpers

# The libraries and modules of the stages, as others see them: their interfaces, their types, what every compiler says of them.

MODULES=$TOP/03-cython-ctypes:$TOP/04-gather:$TOP/04-gather/fast

@test "libraries: each offers its interface and nothing else; no file names an absolute path" {
    local file names
    while read -r file names; do
        assert_equal "$file: $(interface_of "$file" | paste -sd' ')" "$file: $names"
        assert_no_absolute_path "$file"
    done <<LIBRARIES
02-dlopen-from-c/libhello.so hello_error_name hello_error_text hello_from_gpu
02-dlopen-from-c/libhello_c.so hello_c
02-dlopen-from-c/libvector_add.so vector_add vector_add_error_name vector_add_error_text
03-cython-ctypes/libhello.so hello_error_name hello_error_text hello_from_gpu
03-cython-ctypes/libmultiply.so device_allocate device_free device_read device_wait device_write multiply multiply_error_name \
multiply_error_text multiply_on_device
04-gather/libcuda_index.so Gather GatherErrorName GatherErrorText
04-gather/fast/libgather.so $(sed -n 's/^[a-z].* \**\(gather[a-z_]*\)(.*/\1/p' 04-gather/fast/{gather,gather_memory}.h | sort | paste -sd' ')
$(for file in {03-cython-ctypes,04-gather,04-gather/fast}/*.cpython-*.so; do name=${file##*/} && echo "$file PyInit_${name%%.*}"; done)
LIBRARIES
    for file in 01-hello-kernel/hello 02-dlopen-from-c/{hello_c,vector_add_c} 03-cython-ctypes/libgoes_wrong.so 04-gather/fast/gather_c; do
        assert_no_absolute_path "$file"
    done
}

@test "libraries: importing the modules makes no CUDA call; they have one CudaError, which can be pickled" {
    try env PYTHONPATH="$MODULES" "$TEST_PYTHON" -c '
import pickle, device_array, four_ways, gather, hello, multiply, smallest, wrapper
print(len({module.CudaError for module in (device_array, gather, hello, multiply, wrapper)}))
error = pickle.loads(pickle.dumps(hello.CudaError(700, "cudaErrorIllegalAddress", "an illegal memory access")))
print(repr(error), isinstance(error, RuntimeError), error.code, error.name, error.text)'
    assert_equal "$output$stderr" "1
CudaError(700, 'cudaErrorIllegalAddress', 'an illegal memory access') True 700 cudaErrorIllegalAddress an illegal memory access"
    cmp 03-cython-ctypes/cuda_error.py 04-gather/cuda_error.py && [ 04-gather/fast/cuda_error.py -ef 04-gather/cuda_error.py ]
}

@test "libraries: each .pyi has what its module has, and mypy takes right calls and refuses wrong ones" {
    "$TEST_PYTHON" -c 'import mypy' 2>/dev/null || skip "needs mypy: .venv/bin/python -m pip install mypy"
    local stubs=({03-cython-ctypes,04-gather,04-gather/fast}/*.pyi)
    stubs=("${stubs[@]##*/}")
    export PYTHONPATH="$MODULES" MYPYPATH=03-cython-ctypes:04-gather:04-gather/fast MYPY_CACHE_DIR=$BATS_TEST_TMPDIR
    try "$TEST_PYTHON" -m mypy.stubtest --ignore-missing-stub --ignore-disjoint-bases "${stubs[@]%.pyi}" cuda_error
    try "$TEST_PYTHON" -m mypy --strict tests/libraries/calls.py
}

@test "libraries: a Python without a GIL stays without it, and threads get what they ask for" {
    local python=python3.14t
    command -v $python || skip "needs $python with Cython and NumPy"
    $python -c 'import Cython, numpy' || skip "needs Cython and NumPy for $python"
    copy_out 03-cython-ctypes 04-gather tests
    for room in 03-cython-ctypes 04-gather 04-gather/fast; do
        TEST_PYTHON=$python try_make -C $room build
    done
    try env PYTHONPATH=03-cython-ctypes:04-gather:04-gather/fast $python -W error -c '
import sys, device_array, four_ways, gather, hello, multiply, wrapper
print(sys._is_gil_enabled())'
    assert_output False
    try $python tests/soak/soak.py threads 3 0 "$RANDOM"
    assert_quiet
    cd 04-gather/fast || return 1
    TEST_PYTHON=$python agrees 04-gather-fast/exchange
    # All launch into one array, which keeps the last one's stream alive.
    try env PYTHONPATH=. $python -c '
import threading, numpy as np
from gather import DeviceArray, take
class Stream:
    def __cuda_stream__(self):
        return 0, 0
x, i, out = DeviceArray(np.arange(3.0)), DeviceArray(np.arange(2)), DeviceArray(np.zeros(2))
def work():
    for _ in range(100000):
        take(x, i, out, "wrap", stream=Stream())
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(out.get().tolist())'
    assert_output '[0.0, 1.0]'
}

@test "libraries: nvcc: sources compile, with every warning an error" {
    requires nvcc
    sources=(01-hello-kernel/vector_add.cu 04-gather/*.cu 04-gather/fast/gather.cu) # what people copy; make test-all: all
    [ "${SLOW:-}" != 1 ] || sources=(0*/*.cu 04-gather/fast/*.cu 04-gather/fast/bench/*.cu 0*/exercises/*/lib*.cu 0*/exercises/*/*_check.cu)
    checks=(0*/exercises/*/)
    [ "${#sources[@]}" -ge 3 ]
    (cd "$BATS_TEST_TMPDIR" && mkdir -p "${sources[@]%/*}")
    # -P: as many at once as there are cores; xargs fails if one of them does
    run xargs -P "$(nproc)" -I{} "${NVCC:?}" -Werror all-warnings -Xcompiler -Wall,-Wextra -Icommon -Icommon/exercises "${checks[@]/#/-I}" -c \
        -o "$BATS_TEST_TMPDIR/{}.o" {} < <(printf '%s\n' "${sources[@]}")
    assert_success
    assert_output ''
    local pypi=("$TOP"/.venv/lib/python*/site-packages/nvidia/cu13/bin/nvcc) # has headers in packages of their own
    [ ! -x "${pypi[0]}" ] || "${pypi[0]}" -arch=sm_80 -c -o "$BATS_TEST_TMPDIR/threads.o" common/cpu/tests/threads.cu
}

@test "check.h: CHECK_GOTO keeps the first error and goes to the label; CHECK takes a success as nothing" {
    FAILS=1 try_on_cpu <<'PROGRAM'
#include "check.h"
static int library(int bad)
{
    cudaError_t error = cudaSuccess;
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    if (bad)
        CHECK_GOTO(error, cudaSetDevice(99), cleanup);
    else
        CHECK_GOTO(error, cudaSetDevice(0), cleanup);
    printf("not reached if bad\n");
cleanup:
    return error;
}
int main(void)
{
    printf("%d\n", library(0));
    printf("%d\n", library(1));
    cudaGetLastError();
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(99));
    printf("not reached\n");
}
PROGRAM
    assert_output 'not reached if bad
0
101'
    assert_regex "$stderr" 'program.cu:20: CUDA error 101, cudaErrorInvalidDevice: invalid device ordinal'
}
