# Which compiler: NVIDIA's nvcc for a GPU, or cpu/nvcc, which compiles for the CPU; and which Python.
# doctor.py answers once, for all stages; BACKEND=cuda|cpu overrules it, REQUIRE_GPU=1 refuses the CPU.
define newline


endef
NO_PYTHON := $(PYTHON) is missing: sudo apt-get install -y python3-dev python3-venv
ifndef DOCTOR
DOCTOR := $(shell command -v '$(PYTHON)' >/dev/null && \
    BACKEND='$(BACKEND)' NVCC='$(NVCC)' REQUIRE_GPU='$(REQUIRE_GPU)' PYTHON='$(PYTHON)' \
    CC='$(if $(filter default,$(origin CC)),,$(CC))' CXX='$(if $(filter default,$(origin CXX)),,$(CXX))' \
    $(PYTHON) $(COMMON)/doctor.py make)
export DOCTOR
SAY_DEVICE = $(info Device: $(DEVICE))
endif
$(eval $(subst |,$(newline),$(or $(value DOCTOR),$$(error $(NO_PYTHON)))))
$(SAY_DEVICE)

NVCCFLAGS = -O2 -I$(COMMON) -Xcompiler -Wall
# A shared library: code for any place in memory; only the interface visible, also of what it links.
SHARED = -shared -Xcompiler -fPIC,-fvisibility=hidden -Xlinker --exclude-libs=ALL

ifeq ($(BACKEND),cuda)
# the code that this machine's GPU runs; CUDA_ARCH=sm_80 builds for another
CUDA_ARCH ?= $(if $(HAS_GPU),native)
ifneq ($(CUDA_ARCH),)
NVCCFLAGS += -arch=$(CUDA_ARCH)
endif
# PyPI's nvcc does not find its own libraries
ifneq ($(findstring /site-packages/,$(NVCC)),)
NVCCFLAGS += -L$(NVCC:%/bin/nvcc=%/lib)
endif
endif

# the host compiler: gcc and g++, unless CC or CXX is set
CFLAGS ?= -O2
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
else
NVCCFLAGS += -ccbin $(CXX)
endif

# The folder of NVRTC, which a program opens while it runs; empty if it lies where the loader looks.
NVCC_FOLDER = $(patsubst %/,%,$(dir $(realpath $(shell command -v $(NVCC)))))
NVRTC_FOLDER = $(patsubst %/,%,$(dir $(firstword \
    $(wildcard $(NVCC_FOLDER)/../lib*/libnvrtc.so.1[0-9]*) $(wildcard $(NVCC_FOLDER)/../targets/*/lib/libnvrtc.so.1[0-9]*))))
ifeq ($(BACKEND),cpu)
NVRTC_FOLDER = $$ORIGIN/$(COMMON)/cpu/lib
endif
