load helpers

# common/doctor.py: what a machine has and lacks. Bad surroundings: one line that says what is missing and how to mend it.

@test "doctor: it has a line for each thing and says what make run would use" {
    for folder in . 04-gather/fast; do
        try env PATH="$outside" make --no-print-directory -C "$folder" doctor
        refute_output --partial MISSING
        for thing in make 'C and C\+\+' Python.h Bats python3: nvcc: GPU: 'a kernel' 'a Cython module' 'a test'; do
            assert_line --regexp "^(ok|-) +$thing"
        done
        assert_line --regexp '^make run would use: (GPU, .*|CPU stand-in), because '
        assert_line --index -1 'make run and make test: ready'
    done
}

@test "doctor: it tries, and does not assume: a compiler, a Python and a Bats that are there and do not work" {
    copy_out 01-hello-kernel
    program "$BATS_TEST_TMPDIR/bin/g++" 'echo out of order >&2\nexit 1'
    program "$BATS_TEST_TMPDIR/bin/bats" 'case $* in --version) echo Bats 1.8.2;; *) echo out of order; exit 1;; esac'
    program "$BATS_TEST_TMPDIR/bin/gcc" 'case $* in *seven*) echo out of order; exit 1;; *) exec %s "$@";; esac' "$(command -v gcc)"
    FAILS=yes try env -u CC -u CXX PATH="$BATS_TEST_TMPDIR/bin:$PATH" make --no-print-directory BACKEND=cpu REQUIRE_GPU= \
        PYTHON="$TEST_PYTHON" -C 01-hello-kernel doctor
    assert_line --regexp '^MISSING +a kernel does not run: .*out of order'
    assert_line --regexp '^MISSING +a Cython module does not run: out of order'
    assert_line --regexp '^MISSING +Bats does not run: out of order'
    FAILS=yes try env CC="$(command -v gcc)" PATH="$BATS_TEST_TMPDIR/bin:$PATH" make --no-print-directory BACKEND=cpu REQUIRE_GPU= \
        PYTHON="$TEST_PYTHON" -C 01-hello-kernel doctor # this one is in order
    assert_line --regexp '^ok +a Cython module compiles and runs'
    assert_line --index -1 'make run and make test: they will not run here before that is mended'
}

@test "doctor: its lines, its last line and its exit status agree, whatever is missing" {
    copy_out
    mkdir -p .venv/own no_headers # .venv: not made by make, so nothing can be installed there
    "$TEST_PYTHON" -m venv --without-pip bare # without Cython
    echo 'import sysconfig; sysconfig.get_path = lambda *a, **k: "/nowhere"' >no_headers/sitecustomize.py
    program old/bats 'echo Bats 1.2.1'
    program nvcc # for a GPU that is not here: nothing is run
    program broken 'exit 1'
    local setting python
    for setting in CC=nothere CXX='g++ -m32' PYTHONPATH="$PWD/no_headers" PATH="$PWD/old:$PATH" \
        NVCC="$PWD/broken" PYTHON="$PWD/bare/bin/python"; do
        python=$TEST_PYTHON
        [[ $setting != PYTHON=* ]] || python=${setting#PYTHON=}
        FAILS=1 try env -u CC -u CXX CUDA_VISIBLE_DEVICES= BACKEND=cuda NVCC="$PWD/nvcc" "$setting" "$python" common/doctor.py
        assert_equal "$(grep -c '^MISSING  ' <<<"$output")" 1
        assert_line --index -1 'make run and make test: they will not run here before that is mended'
        refute_regex "$stderr" Traceback
    done
}

@test "surroundings: no Python headers: the first line says so, and nothing is built" {
    copy_out 04-gather
    mkdir "$BATS_TEST_TMPDIR/site"
    echo 'import sysconfig; sysconfig.get_path = lambda *a, **k: "/nowhere"' >"$BATS_TEST_TMPDIR/site/sitecustomize.py"
    FAILS=yes PYTHONPATH=$BATS_TEST_TMPDIR/site try_make -C 04-gather build
    assert_regex "$(head -n 1 <<<"$stderr")" '^Python.h is missing for .*: sudo apt-get install -y python3-dev$'
    refute_regex "$stderr" Traceback
    [ ! -e 04-gather/libcuda_index.so ]
}

@test "surroundings: no python3" {
    hide python3 python
    for target in run doctor; do
        FAILS=yes try env -u PYTHON make -C 01-hello-kernel $target
        assert_regex "$stderr" 'python3 is missing: sudo apt-get install -y python3-dev python3-venv'
        refute_regex "$stderr" 'Traceback|not found'
    done
}

@test "surroundings: a Python that is too old, is broken, or talks; CC and CXX that are empty" {
    copy_out 02-dlopen-from-c
    local site=$BATS_TEST_TMPDIR/site
    mkdir "$site"
    make_hello() { # what is on PYTHONPATH at Python's start, the Python
        echo "$1" >"$site/sitecustomize.py"
        try env PYTHONPATH="$site" make --no-print-directory BACKEND=cpu CC= CXX= PYTHON="$2" -C 02-dlopen-from-c -n hello_c
    }
    make_hello 'import sys; sys.version_info = (3, 9, 0)' "$TEST_PYTHON"
    FAILS=2 make_hello 'import sys; sys.version_info = (3, 8, 20)' "$TEST_PYTHON"
    assert_regex "$stderr" '^[^[:cntrl:]]*python[^[:cntrl:]]* is broken or older than Python 3\.9: make PYTHON=\.\.\. names another\.  Stop\.$'
    program "$BATS_TEST_TMPDIR/shim" 'echo noise\necho pyenv: no such version >&2\nexit 127'
    FAILS=2 make_hello '' "$BATS_TEST_TMPDIR/shim"
    assert_regex "$stderr" '^[^[:cntrl:]]*shim is broken or older than Python 3\.9'
    FAILS=2 try make -C 02-dlopen-from-c PYTHON="$BATS_TEST_TMPDIR/shim" doctor
    assert_line --index 0 --partial 'make: Entering'
    assert_regex "$stderr" '^[^[:cntrl:]]*shim is broken or older than Python 3\.9'
    make_hello 'import sys; print("$(info no)|BACKEND := no"); print("hello", file=sys.stderr)' "$TEST_PYTHON"
    assert_line --index 0 'Device: CPU stand-in, because BACKEND=cpu was asked for'
    assert_line --regexp '^gcc -O2 .* -o hello_c hello_c\.c'
    refute_output --partial ccbin
    assert_equal "$stderr" ''
}

@test "doctor: its answers come back from make as they are, whatever is in a name" {
    try_python PYTHONPATH=common <<'PROGRAM'
import os, subprocess
import doctor

odd = {"NVCC": "/a #b/nvcc", "PY": "/ü #/python", "DEVICE": "GPU #1, $5"}
doctor.answers = lambda: odd
rule = "all:\n\t@printf '%s\\n' " + " ".join(f"'$(subst \\,,$({name}))'" for name in odd)
text = "define newline\n\n\nendef\n$(eval $(subst |,$(newline),$(value DOCTOR)))\n" + rule + "\n"
make = subprocess.run(["make", "-f", "-"], input=text, env={**os.environ, "DOCTOR": doctor.for_make()}, capture_output=True, text=True)
print(make.stdout.splitlines() == list(odd.values()) or make)
PROGRAM
    assert_output True
}

@test "doctor: each threshold, on both sides: Cython, Bats, a driver's CUDA, a GPU's compute capability, ensurepip" {
    try_python PYTHONPATH=common <<'PROGRAM'
import doctor

def all_as(what, is_good, rows):  # "bad bad < good good": what is refused, and what is taken from there on
    bad, good = rows.split("<")
    for row in bad.split() + good.split():
        if is_good(row) != (row in good.split()):
            print(what, row, "is refused" if row in good.split() else "is taken")

def numbers(row):
    return tuple(map(int, row.split(".")))

def has_cython(row):
    doctor.version = lambda package: row if package == "Cython" else "1.0"
    return doctor.has_packages()
all_as("Cython", has_cython, "0.29.37 2.9.9 3.0.12 < 3.1.0 3.1 3.10.0 4.0 10.0")

def takes_bats(row):
    doctor.ask = lambda *_: (0, f"Bats {row}")
    return "is too old" not in doctor.missing_for_tests()
doctor.shutil.which, which = lambda name: name, doctor.shutil.which
all_as("Bats", takes_bats, "0.9.9 1.4.9 < 1.5.0 1.10.1 2.0.0 10.0")

def runs_with(release, capability, known):
    doctor.ask = lambda *_: (0, f"Cuda compilation tools, release {release}, V{release}.1")
    return doctor.why_not_with("nvcc", numbers(capability), numbers(known)) is None
for release, capabilities, drivers in [("11.8", "3.0 3.2 < 3.5 5.0 9.0", "10.2 < 11.0 11.8 12.4"), ("12.0", "3.7 < 5.0 7.0 10.0", "11.8 < 12.0 13.0"),
                                       ("13.0", "6.1 7.0 7.2 < 7.5 8.0 12.1", "11.8 12.9 < 13.0 13.1 14.0")]:
    all_as(f"CUDA {release}, capability", lambda row: runs_with(release, row, "99.0"), capabilities)
    all_as(f"CUDA {release}, a driver of", lambda row: runs_with(release, "99.0", row), drivers)
all_as("the nvcc of PyPI, a driver of", lambda row: doctor.why_not_with(None, (9, 0), numbers(row)) is None, "12.9 < 13.0")

doctor.os.path.exists, doctor.python = lambda path: True, lambda: {"INSTALL_PYTHON": needed}
for needed, has, missing in ("requirements.txt", None, True), ("requirements.txt", 1, False), ("", None, False):
    doctor.importlib.util.find_spec = lambda name: has if name == "ensurepip" else 1
    if ("sudo apt-get install -y python3-venv" in doctor.missing_for_python()) != missing:
        print("ensurepip", needed, has)
print("done")
PROGRAM
    assert_output 'done'
}

# A driver with one GPU, as far as doctor.py asks: the CUDA version that it knows, the GPU's compute capability.
fake_driver() {
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libcuda.so.1" - <<PROGRAM
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetName(char *name, int size, int device) { name[0] = 'G'; name[1] = 0; return 0; }
int cuDriverGetVersion(int *version) { *version = $1; return 0; }
int cuDeviceGetAttribute(int *value, int what, int device) { *value = what == 75 ? $2 / 10 : $2 % 10; return 0; }
PROGRAM
}

@test "surroundings: a driver, a GPU that the nvcc at hand is too new for" {
    copy_out 01-hello-kernel # where no .venv has an nvcc
    # what make is told: the backend, whether there is a GPU, and the line for people
    device() { try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" "$@" python3 common/doctor.py make; output=${output//|/$'\n'}; }
    says() { # backend, "yes" or nothing, nvcc, line
        mapfile -t lines <<<"$output"
        for line in "BACKEND := $1" "HAS_GPU := $2" "NVCC := ${3// /\\ }" "DEVICE := $4"; do assert_line "override $line"; done
    }
    fake_driver 12040 90
    program "$BATS_TEST_TMPDIR/nvcc-13" 'echo Cuda compilation tools, release 13.0, V13.0.88'
    program "$BATS_TEST_TMPDIR/nvcc-12" 'echo Cuda compilation tools, release 12.0, V12.0.140'
    local new=NVCC=$BATS_TEST_TMPDIR/nvcc-13 old=NVCC=$BATS_TEST_TMPDIR/nvcc-12
    local why='the NVIDIA driver knows CUDA 12.4 and the nvcc is of CUDA 13: install a newer driver, or the CUDA Toolkit 12.4'
    device BACKEND= REQUIRE_GPU= "$new"
    says cpu '' '$(TOP)common/cpu/nvcc' "CPU stand-in, because $why"
    device BACKEND= REQUIRE_GPU= "$old"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-12" 'GPU, G, because it answers'
    device BACKEND= REQUIRE_GPU=0 "$new" # only 1 asks for it
    refute_output --partial error
    device BACKEND= REQUIRE_GPU=1 "$new"
    assert_output "\$(error REQUIRE_GPU=1, but $why)"
    program "$BATS_TEST_TMPDIR/nvcc-dumb" 'echo what version? >&2\nexit 1'
    device BACKEND= REQUIRE_GPU= NVCC="$BATS_TEST_TMPDIR/nvcc-dumb"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-dumb" 'GPU, G, because it answers'
    device BACKEND=cuda REQUIRE_GPU= "$new"
    says cuda '' "$BATS_TEST_TMPDIR/nvcc-13" "GPU, G, because BACKEND=cuda was asked for, but there is no GPU to run on: $why"
    device BACKEND=cpu REQUIRE_GPU= NVCC=/nowhere/nvcc # nobody needs it
    says cpu '' '$(TOP)common/cpu/nvcc' "CPU stand-in, because BACKEND=cpu was asked for"
    device BACKEND= REQUIRE_GPU= NVCC=/nowhere/nvcc
    assert_output --partial '$(error NVCC=/nowhere/nvcc: there is no such program;'
    hide nvcc
    device NVCC= CUDA_HOME=/nowhere BACKEND= REQUIRE_GPU=
    assert_output --partial 'CUDA 12.4 and the nvcc of PyPI, as there is no other, is of CUDA 13: install a newer'
    fake_driver 13000 61
    device BACKEND= REQUIRE_GPU= "$new"
    says cpu '' '$(TOP)common/cpu/nvcc' "CPU stand-in, because the GPU's compute capability is 6.1 and the nvcc of CUDA 13 knows \
those from 7.5 on: install an older CUDA Toolkit"
    device BACKEND= REQUIRE_GPU= "$old"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-12" 'GPU, G, because it answers'
}

@test "surroundings: no network for PyPI: no Cython, and no nvcc for a GPU" {
    copy_out 01-hello-kernel 03-cython-ctypes
    rm -rf .venv
    "$TEST_PYTHON" -m venv --without-pip "$BATS_TEST_TMPDIR/bare"
    export PYTHON=$BATS_TEST_TMPDIR/bare/bin/python PIP_NO_INDEX=1 PIP_FIND_LINKS=
    FAILS=yes try make BACKEND=cpu REQUIRE_GPU= -C 03-cython-ctypes build
    local no_venv='cannot make a virtual environment: sudo apt-get install -y python3-venv|could not be made: sudo apt-get'
    assert_regex "$stderr" "(PyPI did not give the packages of common/requirements.txt: check the network|$no_venv)"
    refute_regex "$stderr" Traceback

    fake_driver 13000 75
    hide nvcc
    FAILS=yes try env -u NVCC CUDA_HOME=/nowhere LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" make BACKEND= REQUIRE_GPU= \
        --no-print-directory -C 01-hello-kernel build
    assert_line --index 0 'Device: GPU, G, because it answers; nvcc comes from PyPI'
    assert_regex "$stderr" "(PyPI did not give the packages of common/requirements-nvcc.txt: check the network and make again, install the CUDA Toolkit, or: make BACKEND=cpu|$no_venv)"
    refute_regex "$stderr" Traceback
}
