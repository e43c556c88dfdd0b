# What the stages share: it finds the sources that lie in a stage, yours too, and knows how to build each.
#   mine.cu      a program, mine               libmine.cu   a library, libmine.so
#   mine_c.c     a program in C, mine_c        mine.pyx     a Python module
# What is called mine is linked with libmine.so, if there is a libmine.cu. A stage's Makefile says what is special.
COMMON ?= ../common
TOP := $(COMMON:common=)
PYTHON ?= python3
STAGE := $(patsubst $(abspath $(COMMON)/..)/%,%,$(CURDIR))
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help build run test exercises reset sanitize sanitized bench need-gpu clean doctor tools packages FORCE

# SPECIAL: sources for which the stage's Makefile has a rule. MORE_BUILDS: what they become.
CU := $(filter-out $(SPECIAL),$(wildcard *.cu))
PYX := $(wildcard *.pyx)
C := $(filter-out $(SPECIAL) $(PYX:.pyx=.c),$(wildcard *.c))
HEADERS := $(wildcard *.h *.cuh) $(wildcard $(COMMON)/*.h $(COMMON)/*.cuh)
LIBRARIES := $(patsubst %.cu,%.so,$(filter lib%,$(CU)))
PROGRAMS := $(patsubst %.cu,%,$(filter-out lib%,$(CU)))
C_PROGRAMS := $(C:.c=)
MODULES = $(if $(EXT),$(PYX:.pyx=$(EXT)))
BUILDS = $(LIBRARIES) $(MORE_BUILDS) $(PROGRAMS) $(C_PROGRAMS) $(MODULES)
LEFTOVERS += $(PYX:.pyx=.c) $(PYX:.pyx=.*.so)

help:
	@echo '$(STAGE): make TARGET'
	@echo '  run     build this stage and run it'
	@echo '  build   build it: $(BUILDS) $(PYX:.pyx=, a module)'
	@echo '  test    run its tests'
	@echo '  exercises  which of them you have solved (EXERCISE=name: that one; ANSWERS=solutions)'
	@echo '  reset EXERCISE=name  an exercise as it was; your lines are kept beside it'
	@echo '  sanitize  look for memory errors and leaks (compute-sanitizer, AddressSanitizer)'
	@echo '  bench   measure, on a GPU, and keep the result'
	@echo '  clean   remove what was built'
	@echo '  doctor  try all that is needed here, and say what mends what is missing'
	@echo 'Settings: BACKEND=cuda|cpu  CUDA_ARCH=sm_80  NVCC=  CC=  CXX=  CFLAGS=-O2  PYTHON=' \
	    'REQUIRE_GPU=1'

doctor:
	@command -v '$(PYTHON)' >/dev/null || { \
	    echo '$(PYTHON) is missing: sudo apt-get install -y python3-dev python3-venv' >&2; exit 1; }
	@CC='$(if $(filter default,$(origin CC)),,$(CC))' CXX='$(if $(filter default,$(origin CXX)),,$(CXX))' \
	 BACKEND='$(BACKEND)' NVCC='$(NVCC)' $(PYTHON) $(COMMON)/doctor.py

reset:
	@$(PYTHON) $(COMMON)/exercises.py reset . $(EXERCISE)

clean:
	rm -f $(BUILDS) $(LEFTOVERS) .built-for
	rm -rf __pycache__ exercises/.tried exercises/*/.tried

# All that follows builds or runs something, and has to know the device.
ifneq ($(filter-out help doctor clean reset,$(MAKECMDGOALS)),)
include $(COMMON)/device.mk

build: $(BUILDS)

# ---- How each is built

$(PROGRAMS): %: %.cu
	$(NVCC) $(NVCCFLAGS) -o $@ $<

$(LIBRARIES): %.so: %.cu
	$(NVCC) $(NVCCFLAGS) $(SHARED) -o $@ $<

# rpath: where it looks for libraries. $ORIGIN: in the folder where it lies itself.
RPATH = -Wl,-rpath,'$$ORIGIN'
LINK = $(if $(wildcard lib$(*:_c=).cu),-L. -l$(*:_c=))
# The library of the same name, if there is one, comes first (a second $ waits for the name: .SECONDEXPANSION).
own_library = $(patsubst %.cu,%.so,$(wildcard lib$(1:_c=).cu))
.SECONDEXPANSION:
C_OPTIONS = -std=c11 -Wall -Wextra -ffp-contract=off -Werror=incompatible-pointer-types
$(C_PROGRAMS): %: %.c $$(call own_library,$$*)
	$(CC) $(CFLAGS) $(C_OPTIONS) -o $@ $< $(LINK) -ldl $(RPATH)

# Cython makes mine.c of mine.pyx, the C compiler makes the module of that.
$(PYX:.pyx=.c): %.c: %.pyx $(wildcard *.pxd)
	$(PY) -m cython -3 $<
$(MODULES): %$(EXT): %.c $$(call own_library,$$*)
	$(CC) $(CFLAGS) -fPIC -fvisibility=hidden -I$(PYTHON_INCLUDE) -shared -o $@ $< $(LINK) -ldl $(RPATH)

$(BUILDS): $(HEADERS) Makefile .built-for $(RUNTIME)
$(PYX:.pyx=.c): .built-for

# The stand-in's runtime library, built before anything is built with it.
ifeq ($(BACKEND),cpu)
RUNTIME := $(COMMON)/cpu/lib/libcpu_cuda.so
$(RUNTIME): $(wildcard $(addprefix $(COMMON)/cpu/,nvcc *.py include/* runtime/*)) | tools
	@CC='$(CC)' $(COMMON)/cpu/nvcc --build-runtime
endif

# ---- What is needed

# One line for what is missing, before anything is built.
MISSING_HERE = $(or $(MISSING),$(if $(PYX),$(MISSING_FOR_PYTHON)))
tools:
	@[ -w . ] || { echo '$(CURDIR) is read-only: copy the repository to a folder of yours, and make there' >&2; exit 1; }
	@[ -z '$(MISSING_HERE)' ] || { echo '$(MISSING_HERE)' >&2; exit 1; }

INSTALL = $(INSTALL_NVCC) $(if $(PYX),$(INSTALL_PYTHON))
packages: | tools
	@$(if $(strip $(INSTALL)),$(PYTHON) $(COMMON)/install.py $(INSTALL))

need-gpu:
	@[ '$(BACKEND) $(HAS_GPU)' = 'cuda yes' ] || { \
	    echo 'make bench needs a GPU: times of the CPU stand-in say nothing about one' >&2; exit 1; }

# ---- Tests

# The tests lie beside the stages; a stage that was copied out alone has none.
test: build
	@test -x $(TOP)tests/run || { \
	    echo 'the tests are not here: copy the folder tests beside common' >&2; exit 1; }
	@$(TOP)tests/run $(subst /,-,$(STAGE))

STAGES := .
# exercises.py builds each exercise in a folder of its own, with this file, and runs its check.
exercises: $(RUNTIME) | tools packages
	@BACKEND=$(BACKEND) NVCC_FOLDER='$(NVCC_FOLDER)' PY='$(PY)' MAKE='$(MAKE)' ANSWERS='$(ANSWERS)' EXERCISE='$(EXERCISE)' \
	    $(PYTHON) $(COMMON)/exercises.py check $(STAGES)

# make sanitize: the stage's commands for it, in builds with line numbers, for the CPU also with its
# sanitizers. Such builds do not run as usual, so they go afterwards.
sanitize:
	@[ '$(BACKEND) $(if $(PYX),python) $(findstring clang,$(CC) $(CXX))' != 'cpu python clang' ] || { \
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

# What this folder was built with. If that changes (backend, compiler, options, Python, where it lies), the builds go.
BUILT_FOR := $(BACKEND) $(NVCC) $(NVCCFLAGS) $(CC) $(CFLAGS) $(if $(PYX),$(PY) $(EXT)) $(CURDIR)
.built-for: FORCE | tools packages
	@echo '$(BUILT_FOR)' | cmp -s - $@ || { \
	    [ ! -e $@ ] || echo 'Built with another compiler, options or folder: all is built again.'; \
	    rm -f $(BUILDS) $(LEFTOVERS) && echo '$(BUILT_FOR)' > $@; }
endif
