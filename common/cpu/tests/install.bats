load ../../../tests/helpers
export FAILS=any # each test looks at the exit status itself

# The stand-in as others have it: installed from its wheel, and under build systems that look for nvcc.

setup_file() {
    local wheel
    wheel=$("$TEST_PYTHON" "$TOP/common/cpu/build_wheel.py" "$BATS_FILE_TMPDIR")
    "$TEST_PYTHON" -m venv "$BATS_FILE_TMPDIR/a venv" >/dev/null || return 0
    "$BATS_FILE_TMPDIR/a venv/bin/python" -m pip -q --disable-pip-version-check install --no-index "$wheel"
    chmod -R a-w "$BATS_FILE_TMPDIR/a venv"
    CACHE=$(mktemp -d /tmp/cache.XXXXXX) # CMake takes a toolkit's path apart at a space
    export CACHE
}

teardown_file() {
    chmod -R u+w "$BATS_FILE_TMPDIR"
    rm -rf "${CACHE:?}"
}

setup() {
    CPU_NVCC=$BATS_FILE_TMPDIR/a\ venv/bin/cpu-nvcc
    [ -e "$CPU_NVCC" ] || skip "needs Python's venv with pip: sudo apt-get install -y python3-venv"
    export XDG_CACHE_HOME=$CACHE PYTHONDONTWRITEBYTECODE=1
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir include other
    echo 'void add(int *d, int n);' >include/add.h
    cat >add.cu <<'PROGRAM'
#include "add.h"
__device__ int one(int x)
{
    int *p = new int(x + 1); // to the stand-in it is the device's memory, whoever links this
    x = *p;
    delete p;
    return x;
}
__global__ void Add(int *d) { d[threadIdx.x] = one(d[threadIdx.x]); }
void add(int *d, int n) { Add<<<1, n>>>(d); }
PROGRAM
    cat >main.cu <<'PROGRAM'
#include <add.h>
#include <cstdio>
int check(const int *h, int n);
int main()
{
    int h[64] = {}, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    add(d, 64);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return printf("%s %d\n", cudaGetErrorName(cudaGetLastError()), check(h, 64)) < 0;
}
PROGRAM
    echo 'int check(const int *h, int n) { int sum = 0; while (n--) sum += h[n]; return sum; }' >check.cpp
}

@test "install: the wheel, read-only in a path with a space: its library is built once for each compiler, in the cache" {
    local compiler other=clang program
    if ! command -v clang >/dev/null; then
        other=another-gcc # by its name: in CC, a space ends the command
        printf '#!/bin/sh\nexec gcc "$@"\n' >"$BATS_TEST_TMPDIR/$other"
        chmod +x "$BATS_TEST_TMPDIR/$other"
        # shellcheck disable=SC2030
        PATH=$BATS_TEST_TMPDIR:$PATH
    fi
    for compiler in gcc "$other" gcc; do
        program=by-$compiler
        CC=$compiler "$CPU_NVCC" -Iinclude -o "$program" main.cu add.cu check.cpp
        try "./$program"
        assert_output 'cudaSuccess 64'
        assert_equal "$stderr" 'CPU stand-in: this program runs on the CPU, not on a GPU'
        touch -r "$(readelf -d "$program" | sed -n 's/.*runpath: \[\(.*\)\]/\1/p')/libcpu_cuda.so" "$program.built"
    done
    assert_equal "$(find "$CACHE" -name libcpu_cuda.so | wc -l)" 2
    [ by-gcc.built -ot "by-$other.built" ]
    gcc -std=gnu11 -o driver "$BATS_TEST_DIRNAME/driver_and_nvrtc.c" -ldl
    EXPECTED=. try env LD_LIBRARY_PATH="$("$CPU_NVCC" --toolkit)" ./driver
    assert_output ok
    assert_equal "$(find "$BATS_FILE_TMPDIR/a venv" -newer main.cu)" ''
    try env XDG_CACHE_HOME=/dev/full/x "$CPU_NVCC" -Iinclude -c add.cu
    assert_regex "$status $stderr" '^1 [^[:cntrl:]]*cannot write /dev/full/x/[^[:cntrl:]]* XDG_CACHE_HOME [^[:cntrl:]]*$'
}

@test "install: it answers build systems as nvcc does, and says what it is" {
    echo '-Iother --include-path include' >options
    "$CPU_NVCC" -Iinclude -dc add.cu
    while IFS='|' read -r arguments wanted; do
        # shellcheck disable=SC2086
        try "$CPU_NVCC" $arguments
        assert_regex "$status ${output//$'\n'/ }$stderr" "^$wanted\$"
    done <<'ROWS'
--version|0 CPU stand-in [0-9.]+, .*nvcc: NVIDIA \(R\) Cuda compiler driver.* release 13\.0, V13\.0\.[0-9]+
-v nothing|1 .*#\$ TOP=/.*/nvvm/libdevice.*#\$ INCLUDES="-I/.*#\$ LIBRARIES="-L/.*cpu-nvcc: there is no file nothing
--dryrun add.o|0 .*#\$ g\+\+ "-L/.*/lib64" -lcudart_static -o a.out
-dlink add.o -o linked.o|0 
-lib add.o -o libadd.a|0 
-MM -Iinclude add.cu|0 add\.o: add\.cu include/add\.h *
-c add.cu|1 .*add\.h: No such file.*
-c add.cu -Iother,include|0 
-c add.cu --options-file options|0 
-c add.cu -Iinclude -x cu -keep --keep-dir other -Xcudafe --diag_suppress=1 -Xfatbin -compress-all -diag-suppress 1|0 
-c add.cu -Iinclude -fno-common|2 .*the option -fno-common is unknown
-c add.cu -Iinclude -fno-common -forward-unknown-to-host-compiler|0 
-ptx add.cu -Iinclude --forward-unknown-to-host-compiler|2 .*the option -ptx is unknown
ROWS
}

@test "install: what it compiles, g++ links and finds, and a make that calls \$(NVCC)" {
    cat >Makefile <<'MAKE'
main: main.o add.o check.o
	$(CXX) -o $@ $^ -L$(CUDA)/lib64 -lcudart
%.o: %.cu
	$(CUDA)/bin/nvcc -Iinclude -MMD -MP -c -o $@ $<
MAKE
    try make -s CUDA="$("$CPU_NVCC" --toolkit)"
    assert_success
    try ./main
    assert_output 'cudaSuccess 64'
}

@test "install: CMake's CUDA language: libraries, several files, tests" {
    # shellcheck disable=SC2031
    PATH=$PATH:$(dirname "$TEST_PYTHON")
    command -v cmake >/dev/null || skip "needs cmake: .venv/bin/python -m pip install cmake"
    cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(add LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(check SHARED check.cpp)
target_link_libraries(check PRIVATE CUDA::cudart)
enable_testing()
foreach(kind STATIC SHARED)
  add_library(add_${kind} ${kind} add.cu)
  set_target_properties(add_${kind} PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
  target_include_directories(add_${kind} PUBLIC include)
  add_executable(linked_by_cuda_${kind} main.cu)
  target_link_libraries(linked_by_cuda_${kind} PRIVATE add_${kind} check)
  add_executable(linked_by_cxx_${kind} main.cu check.cpp)
  target_link_libraries(linked_by_cxx_${kind} PRIVATE add_${kind})
  add_test(NAME cuda_${kind} COMMAND linked_by_cuda_${kind})
  add_test(NAME cxx_${kind} COMMAND linked_by_cxx_${kind})
endforeach()
CMAKE
    CUDAToolkit_ROOT=$("$CPU_NVCC" --toolkit) # before what lies in /usr/local
    export CUDAToolkit_ROOT
    [ -e "$CUDAToolkit_ROOT/lib64/libnvToolsExt.so" ] # CMake 3.25, and no newer one, stops without it
    CUDACXX=$CPU_NVCC try cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES='80;90'
    assert_success
    try cmake --build build
    assert_success
    cd build && try ctest --output-on-failure
    assert_output --regexp '100% tests passed(, 0 tests failed)? out of 4'
    [[ $(./linked_by_cxx_STATIC) = 'cudaSuccess 64' ]]
}
