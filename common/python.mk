# The Python with Cython and NumPy: the one in use if it has them, else ../.venv.
# Only a stage that sets NEEDS_PYTHON asks for it.
ifdef NEEDS_PYTHON
PYTHON_FOUND := $(shell PYTHON='$(PYTHON)' $(PYTHON) ../common/doctor.py python)
PY := $(word 1,$(PYTHON_FOUND))
EXT := $(word 2,$(PYTHON_FOUND))
PYTHON_CFLAGS := -I$(word 3,$(PYTHON_FOUND))
PYTHON_TOOLS := Python.h venv
ifneq ($(PY),$(PYTHON))
PYTHON_PACKAGES := python-packages
endif

python-packages: | tools
	@$(PYTHON) ../common/venv.py requirements.txt
else
PY := $(PYTHON)
endif
