"""The stand-in as a wheel: build_wheel.py FOLDER. For pip it is what pyproject.toml names.

A wheel is a zip file: a package's files, and a folder .dist-info that says what they are (packaging.python.org,
"Binary distribution format").
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["nvcc", "*.py", "include/**/*.h", "runtime/*.[ch]", "check/*.[ch]", "driver/*.[ch]"]
VERSION = re.search('^VERSION = "(.*)"', (HERE / "nvcc").read_text(), re.M)[1]
INFO = f"cuda_stand_in-{VERSION}.dist-info/"
ABOUT = {
    "METADATA": f"""Metadata-Version: 2.1
Name: cuda-stand-in
Version: {VERSION}
Summary: nvcc for machines without a GPU: compiles .cu files for the CPU, and looks at every access of a kernel
License: MIT-0
Requires-Python: >=3.9
""",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": "[console_scripts]\ncpu-nvcc = cuda_stand_in:main\n",
}


def build_wheel(folder, config_settings=None, metadata_directory=None):
    """Called by pip, too, with these arguments. Returns the name of the wheel."""
    name = f"cuda_stand_in-{VERSION}-py3-none-any.whl"
    record = []
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(info, content):
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record.append(f"{info.filename},sha256={digest},{len(content)}\n")

        for path in sorted(
            {path for part in PARTS for path in HERE.glob(part)} - {HERE / "build_wheel.py", HERE / "contract.py"}
        ):
            place = f"cuda_stand_in/{path.relative_to(HERE).as_posix()}"
            add(zipfile.ZipInfo.from_file(path, place, strict_timestamps=False), path.read_bytes())
        for file, text in ABOUT.items():
            add(zipfile.ZipInfo(INFO + file), text.encode())
        record.append(f"{INFO}RECORD,,\n")  # no time in it: the same sources make the same wheel
        wheel.writestr(zipfile.ZipInfo(INFO + "RECORD"), "".join(record))
    return name


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
