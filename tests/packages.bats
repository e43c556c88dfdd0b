load helpers

# common/install.py: the Python packages in .venv.

@test "packages: a .venv is complete with these packages, for this Python, in this place" {
    copy_out
    try_python PYTHONPATH=common <<'PROGRAM'
import pathlib, sys
import install

python, (stamp, wanted) = pathlib.Path(install.PYTHON), install.stamp("requirements.txt")
python.parent.mkdir(parents=True)
python.touch()
pathlib.Path(stamp).write_text(wanted)
assert install.is_complete("requirements.txt"), "complete"
for what in install.VENV, sys.version, "numpy":
    pathlib.Path(stamp).write_text(wanted.replace(what, "another"))
    assert what in wanted and not install.is_complete("requirements.txt"), what
pathlib.Path(stamp).write_text(wanted)
python.unlink()
assert not install.is_complete("requirements.txt"), "no Python"
PROGRAM
}

@test "packages: broken off after any of its lines, and started again, it has filled .venv" {
    copy_out
    try_python PYTHONPATH=common <<'PROGRAM'
import itertools, os, shutil, sys
import install

def run(command, complaint):  # in place of venv and pip, with a folder that is there before it works
    if "venv" in command:
        os.makedirs(f"{install.VENV}/bin", exist_ok=True)
        with open(install.PYTHON, "w") as file:
            os.chmod(install.PYTHON, 0o755)
            file.write("#!/bin/sh\n")
            file.write(f"echo '{sys.version}'\n")  # all that it is asked
    else:
        os.makedirs(f"{install.VENV}/lib", exist_ok=True)
        open(f"{install.VENV}/lib/packages", "w").close()

def break_off_after(lines):
    def trace(frame, event, _):
        nonlocal lines
        is_looked_at = frame.f_code.co_filename in (install.__file__, __file__)
        lines -= event == "line" and is_looked_at
        if lines < 0:
            os._exit(1)
        return trace if is_looked_at else None
    return trace

install.run = run
for lines in itertools.count():
    shutil.rmtree(install.VENV, ignore_errors=True)
    child = os.fork()
    if child == 0:
        sys.settrace(break_off_after(lines))
        install.install("requirements.txt")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
    install.install("requirements.txt")
    filled = install.is_complete("requirements.txt"), os.path.exists(f"{install.VENV}/lib/packages"), install.version_of(install.PYTHON)
    if filled != (True, True, sys.version):
        raise AssertionError(f"broken off after {lines} lines, started again: {filled}")
print(lines > 20)
PROGRAM
    assert_output True
}

@test "packages: two lists of packages in one call, and two calls at once, do not wait for themselves" {
    copy_out
    cat >fill.py <<'PROGRAM'
import os, sys, time
sys.path.insert(0, "common")
import install
done = lambda name: os.path.exists(name)
install.is_complete = done
def fill(name):
    time.sleep(0.3)
    open(name, "x").close()  # twice: an exception
install.fill = fill
for name in "one", "two":
    install.install(name)
PROGRAM
    "$TEST_PYTHON" fill.py &
    LIMIT=20 try "$TEST_PYTHON" fill.py
    wait $!
    [ -e two ]
}

@test "packages: a .venv that make did not make stays; one that it made is renewed when it was moved" {
    takes_long
    copy_out 03-cython-ctypes
    local venv=("$TEST_PYTHON" common/install.py none.txt)
    echo tiny >common/none.txt # a package that PyPI need not give: it lies in offline, as make offline puts it there
    mkdir -p offline/pypi
    "$TEST_PYTHON" -c '
import zipfile
with zipfile.ZipFile("offline/pypi/tiny-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny.py", "print(7)")
    wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
    wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("tiny-1.dist-info/RECORD", "")'
    mkdir -p .venv
    touch .venv/mine
    FAILS=yes try "${venv[@]}"
    assert_equal "$stderr" "Python packages of common/none.txt go into .venv (once)
$PWD/.venv is of another Python or without pip, and was not made by make: move it away, or name a Python that has the \
packages: make PYTHON=..."
    [ -e .venv/mine ]
    rm -r .venv
    # shellcheck disable=SC2016
    try env PIP_INDEX_URL=http://127.0.0.1:9/ bash -c '"$@" & "$@" && wait $!' at_once "${venv[@]}"
    assert_equal "$stderr" 'Python packages of common/none.txt go into .venv (once)' # one of the two
    assert_equal "$(.venv/bin/python -c 'import tiny')" 7
    touch .venv/mine
    try "${venv[@]}"
    assert_output ''
    cd ..
    mv copy moved
    cd moved || return 1
    assert_equal "$(.venv/bin/python -c 'import tiny')" 7
    try "${venv[@]}"
    assert_equal "$(bash -c '. .venv/bin/activate && command -v python3')" "$PWD/.venv/bin/python3"
    [ -e .venv/mine ]
    # with NumPy and Cython in it: one name for it, whether it is activated or not, so that nothing is built again
    local package site
    site=$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')
    for package in numpy-2.0 Cython-3.1; do
        mkdir "$site/$package.dist-info"
        printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "${package%-*}" "${package#*-}" >"$site/$package.dist-info/METADATA"
    done
    try env PYTHON=python3 .venv/bin/python common/doctor.py shell
    assert_equal "$(eval "$output"; echo "$PY")" "$PWD/.venv/bin/python"
    sed -i 's/^# for .*/# for another Python/' .venv/none.txt
    rm .venv/bin/python # broken: it is made anew
    try "${venv[@]}"
    assert_regex "$stderr" '.venv is of another Python, or broken: it is made anew'
    [ ! -e .venv/mine ]
}
