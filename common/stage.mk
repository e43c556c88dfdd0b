# What the stages share. A stage's Makefile names BUILDS, the files it makes, and has special rules.
COMMON := ../common
PYTHON ?= python3
STAGE := $(lastword $(notdir $(CURDIR)))
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help build run test sanitize sanitized bench need-gpu clean doctor tools nvcc-packages python-packages FORCE

help:
	@echo '$(STAGE): make TARGET'
	@echo '  run     build this stage and run it'
	@echo '  build   build it: $(BUILDS)'
	@echo '  test    run its tests'
	@echo '  sanitize  look for memory errors and leaks (compute-sanitizer, AddressSanitizer)'
	@echo '  bench   measure, on a GPU, and keep the result beside the page'
	@echo '  clean   remove what was built'
	@echo '  doctor  what this machine has, what it lacks, and the command that mends it'
	@echo 'Settings: BACKEND=cuda|cpu  CUDA_ARCH=sm_80  NVCC=  CC=  CXX=  CFLAGS=-O2  PYTHON=' \
	    'REQUIRE_GPU=1'

doctor:
	@command -v '$(PYTHON)' >/dev/null || { \
	    echo '$(PYTHON) is missing: sudo apt-get install -y python3-dev python3-venv' >&2; exit 1; }
	@CC='$(if $(filter default,$(origin CC)),,$(CC))' \
	 CXX='$(if $(filter default,$(origin CXX)),,$(CXX))' \
	 BACKEND='$(BACKEND)' NVCC='$(NVCC)' PYTHON='$(PYTHON)' $(PYTHON) ../common/doctor.py

clean:
	rm -f $(BUILDS) $(LEFTOVERS) .built-for
	rm -rf __pycache__

# All that follows builds or runs something, and has to know the device.
ifneq ($(filter-out help doctor clean,$(MAKECMDGOALS)),)
include ../common/device.mk
include ../common/python.mk

# make sanitize: the stage's commands for it, in builds with line numbers, for the CPU also with its
# sanitizers. Such builds do not run as usual, so they go afterwards.
sanitize:
	@[ '$(BACKEND) $(NEEDS_PYTHON) $(findstring clang,$(CC) $(CXX))' != 'cpu 1 clang' ] || { \
	    echo 'make sanitize needs gcc and g++ here: Python is not started with the AddressSanitizer of clang' >&2; exit 1; }
	@$(MAKE) --no-print-directory SANITIZE=1 sanitized; status=$$?; \
	    $(MAKE) --no-print-directory -s clean; exit $$status

ifdef SANITIZE
export BACKEND NVCC_FOLDER
NVCCFLAGS += $(if $(filter cuda,$(BACKEND)),-lineinfo,-g $(SANITIZERS))
override CFLAGS += -g $(if $(filter cuda,$(BACKEND)),,$(SANITIZERS))
SANITIZERS := -fsanitize=address,undefined
endif
# What is sanitized on a GPU only, as it does not run elsewhere: $(call on_gpu,'./timing 16')
on_gpu = $(if $(filter cuda,$(BACKEND)),$1)

need-gpu:
	@[ '$(BACKEND) $(word 3,$(DEVICE_FOUND))' = 'cuda gpu' ] || { \
	    echo 'make bench needs a GPU: times of the CPU stand-in say nothing about one' >&2; exit 1; }

build: $(BUILDS)

# The tests lie beside the stages; a stage that was copied out alone has none.
test: build
	@test -x ../tests/run || { \
	    echo 'the tests are not here: copy the folder tests beside $(STAGE)' >&2; exit 1; }
	@../tests/run $(STAGE)

# One line for each tool that is missing, before anything is built.
tools:
	@CC='$(CC)' CXX='$(CXX)' $(PYTHON) ../common/doctor.py need write g++ gcc $(PYTHON_TOOLS)

nvcc-packages: | tools
	@$(PYTHON) ../common/venv.py requirements-nvcc.txt requirements.txt

# The stand-in's runtime library, built before anything is built with it.
ifeq ($(BACKEND),cpu)
RUNTIME := ../common/cpu/lib/libcpu_cuda.so
$(RUNTIME): $(wildcard $(addprefix ../common/cpu/,nvcc *.py include/* runtime/*)) | tools
	@CC='$(CC)' ../common/cpu/nvcc --build-runtime
endif

# What this folder was built with. If that changes (backend, compiler, Python, Makefile, where it lies), the builds go.
BUILT_FOR := $(BACKEND) $(NVCC) $(NVCCFLAGS) $(CC) $(CFLAGS) $(PY) $(EXT)
.built-for: FORCE | tools $(NVCC_PACKAGES) $(PYTHON_PACKAGES)
	@now=$$(echo '$(BUILT_FOR)' && pwd && cksum Makefile); echo "$$now" | cmp -s - $@ || { \
	    rm -f $(BUILDS) $(LEFTOVERS) && echo "$$now" > $@; }

%: %.cu ../common/check.h .built-for $(RUNTIME)
	$(NVCC) $(NVCCFLAGS) -o $@ $<

lib%.so: lib%.cu ../common/check.h .built-for $(RUNTIME)
	$(NVCC) $(NVCCFLAGS) $(SHARED) -o $@ $<

%.c: %.pyx .built-for
	$(PY) -m cython -3 $<
endif
