load helpers

# common/MESSAGES.md, "If something fails": each message of its tables is provoked here, by what stands beside it.

# A message as in the tables, then what leads to it. $W: a folder with common, stage 01, and programs for the stand-in.
provocations() {
    cat <<'TABLE'
… is missing: sudo apt-get install -y …
    hide g++ c++; env -u CC -u CXX make BACKEND=cpu -C 01-hello-kernel build
No rule to make target 'run'
    cd $W && make run
… is read-only: copy the repository to a folder of yours
    [ $(id -u) -ne 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups); cp -r $W /tmp/read-only.$$; cd /tmp/read-only.$$; chmod -R a+rX,a-w .; "${as_nobody[@]}" make PYTHON=/usr/bin/python3 BACKEND=cpu -C 01-hello-kernel build; chmod -R u+w .; rm -r /tmp/read-only.$$
make would write over …, which it has not made: rename it
    cd $W/01-hello-kernel; touch hello; make BACKEND=cpu build; rm hello
make cannot work in a folder with an apostrophe in its path: rename it
    mkdir -p $W/it\'s; cp -rp $W/common $W/01-hello-kernel $W/it\'s; make BACKEND=cpu -C $W/it\'s/01-hello-kernel build
BACKEND=cuda needs nvcc
    cd $W; hide nvcc; env -u NVCC CUDA_HOME=/nowhere CUDA_VISIBLE_DEVICES= make BACKEND=cuda -C 01-hello-kernel build
REQUIRE_GPU=1, but …
    CUDA_VISIBLE_DEVICES= make REQUIRE_GPU=1 -C 01-hello-kernel build
there is no such program; leave NVCC unset
    make NVCC=/nowhere/nvcc build
PyPI did not give the packages of …
    cd $W; $TEST_PYTHON -m venv --without-pip .venv; $TEST_PYTHON -c 'import os, pip; print(os.path.dirname(os.path.dirname(pip.__file__)))' >$(echo .venv/lib/*/site-packages)/pip.pth; echo numpy==99 >common/none.txt; PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 $TEST_PYTHON common/install.py none.txt
was not made by make: move it away
    cd $W; rm -rf .venv; mkdir .venv; touch common/none.txt; $TEST_PYTHON common/install.py none.txt
make bench needs a GPU
    make BACKEND=cpu -C 01-hello-kernel bench
no such exercise: …
    make BACKEND=cpu -C 01-hello-kernel exercises EXERCISE=nothing
libcpu_cuda.so: cannot open shared object file
    mkdir -p $W/far/away; cp $W/programs/hello $W/far/away; $W/far/away/hello
dlopen: libhello.so: cannot open shared object file
    cd 02-dlopen-from-c; ./load now libhello.so hello_from_gpu
only ET_DYN and ET_EXEC can be loaded
    cd 02-dlopen-from-c; ./load now ./libobject.so hello_from_gpu
undefined symbol: hello_from_gpu
    cd 02-dlopen-from-c; ./load now ./libmangled.so hello_from_gpu
fatal error: check.h: No such file or directory
    common/cpu/nvcc -o $W/x 01-hello-kernel/hello.cu
undefined reference to …
    cd 02-dlopen-from-c; gcc -x c - -o $W/x <<<'void f(void); int main(void) { f(); }'
calling a __host__ function(…) from a __global__ function(…) is not allowed
    echo 'void f() {} __global__ void k() { f(); } int main() {}' >$W/x.cu; common/cpu/nvcc -o $W/x $W/x.cu
CUDA error 1, cudaErrorInvalidValue
    $W/programs/silent big_block check
CUDA error 2, cudaErrorMemoryAllocation
    CPU_CUDA_FAIL=1 $W/programs/vector_add
CUDA error 3, cudaErrorInitializationError
    cd 03-cython-ctypes; $TEST_PYTHON goes_wrong.py fork
CUDA error 35, cudaErrorInsufficientDriver
    CPU_CUDA_FAIL=1 CPU_CUDA_FAIL_CODE=35 $W/programs/vector_add
CUDA error 100, cudaErrorNoDevice
    CUDA_VISIBLE_DEVICES= 01-hello-kernel/hello
CUDA error 101, cudaErrorInvalidDevice
    printf '#include "check.h"\nint main() { CHECK(cudaSetDevice(99)); }' >$W/x.cu; common/cpu/nvcc -Icommon -o $W/x $W/x.cu; $W/x
CUDA error 209, cudaErrorNoKernelImageForDevice
    CPU_CUDA_FAIL=1 CPU_CUDA_FAIL_CODE=209 $W/programs/vector_add
CUDA error 700, cudaErrorIllegalAddress
    $W/programs/silent host_pointer check
CUDA error 719, cudaErrorLaunchFailure
    printf '#include "check.h"\n__global__ void k() { __trap(); }\nint main() { k<<<1, 1>>>(); CHECK(cudaDeviceSynchronize()); }' >$W/x.cu; common/cpu/nvcc -Icommon -o $W/x $W/x.cu; $W/x
has a race
    $W/programs/silent race
never freed: … bytes of device memory
    echo 'int main() { void *p; return cudaMalloc(&p, 8); }' >$W/x.cu; common/cpu/nvcc -o $W/x $W/x.cu; $W/x
the program ended before kernel … ran
    $W/programs/silent no_wait
is not in the stand-in
    echo 'cudaIpcMemHandle_t handle;' >$W/x.cu; common/cpu/nvcc -o $W/x $W/x.cu
CUDA 13 has dropped it
    echo 'int main() { cudaThreadSynchronize(); }' >$W/x.cu; common/cpu/nvcc -o $W/x $W/x.cu
ModuleNotFoundError: No module named 'numpy'
    $TEST_PYTHON -S -c 'import numpy'
ModuleNotFoundError: No module named 'wrapper'
    cd $W; $TEST_PYTHON -c 'import wrapper'
FileNotFoundError: libhello.so is not there
    cd 03-cython-ctypes; LD_LIBRARY_TEST_PATH=/nowhere $TEST_PYTHON -c 'import hello; hello.run_cuda()'
ValueError: Buffer dtype mismatch
    cd 03-cython-ctypes; $TEST_PYTHON -c 'import numpy as np, four_ways; four_ways.by_linking(*[np.ones(4)] * 3)'
ValueError: ndarray is not C-contiguous
    cd 03-cython-ctypes; $TEST_PYTHON -c 'import numpy as np, four_ways; four_ways.by_linking(*[np.ones(8, "f")[::2]] * 3)'
IndexError: index … is out of bounds for axis 0 with size …
    cd 04-gather; $TEST_PYTHON -c 'import numpy as np; from wrapper import cuda_gather; cuda_gather(np.ones(5, "f"), np.array([5]))'
Segmentation fault
    cd 03-cython-ctypes; bash -c '"$TEST_PYTHON" goes_wrong.py no_argtypes; true'
TABLE
}

messages_of() { # PAGE
    sed -n 's/^| `\(.*\)` |[^|]*|[^|]*|$/\1/p' "$1"
}

@test "fails: each message of common/MESSAGES.md comes, from what leads to it; in Chinese there are the same" {
    cd "$TOP" || return 1
    copy_out 01-hello-kernel
    export W=$COPY PYTHONDONTWRITEBYTECODE=1
    mkdir programs
    local program
    for program in hello silent vector_add; do
        common/cpu/nvcc -Icommon -o programs/$program 01-hello-kernel/$program.cu
    done
    export -f hide
    cd "$TOP" || return 1

    local message pattern rows=0
    while IFS= read -r message; do
        rows=$((rows + 1))
        command=$(provocations | grep -FxA1 -- "$message" | tail -n 1)
        [ -n "$command" ] || fail "nothing provokes: $message"
        EXPECTED=. try bash -c "IFS=; $command; true" # folders may have a name with a space
        pattern=$(sed 's/[].[*^$()+?{}|\\]/\\&/g; s/…/.*/g' <<<"$message")
        grep -qE -- "$pattern" <<<"$output"$'\n'"$stderr" || fail "does not come: $message"
    done < <(messages_of common/MESSAGES.md)
    [ "$rows" -ge 25 ]
    assert_equal "$rows" "$(provocations | grep -c '^[^ ]')"
    assert_equal "$(messages_of common/MESSAGES.zh.md)" "$(messages_of common/MESSAGES.md)"
}
