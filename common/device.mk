# Which compiler: NVIDIA's nvcc for a GPU, or ../common/cpu/nvcc, which compiles for the CPU.
# doctor.py decides: BACKEND=cuda|cpu overrules it, REQUIRE_GPU=1 refuses the CPU.
ifndef DEVICE_FOUND
DEVICE_FOUND := $(shell command -v '$(PYTHON)' >/dev/null && \
    BACKEND='$(BACKEND)' NVCC='$(NVCC)' REQUIRE_GPU='$(REQUIRE_GPU)' \
    $(PYTHON) $(COMMON)/doctor.py device 2>&1)
ifeq ($(filter cuda cpu,$(word 1,$(DEVICE_FOUND))),)
NO_PYTHON := $(PYTHON) is missing: sudo apt-get install -y python3-dev python3-venv
$(error $(or $(DEVICE_FOUND),$(NO_PYTHON)))
endif
$(info Device: $(wordlist 4,99,$(DEVICE_FOUND)))
endif
export DEVICE_FOUND

override BACKEND := $(word 1,$(DEVICE_FOUND))
override NVCC := $(word 2,$(DEVICE_FOUND))
NVCCFLAGS = -O2 -I../common -Xcompiler -Wall
# A shared library: code for any place in memory; only the interface visible, also of what it links.
SHARED = -shared -Xcompiler -fPIC,-fvisibility=hidden -Xlinker --exclude-libs=ALL

ifeq ($(BACKEND),cuda)
# the code that this machine's GPU runs; CUDA_ARCH=sm_80 builds for another
CUDA_ARCH ?= $(if $(filter gpu,$(word 3,$(DEVICE_FOUND))),native)
ifneq ($(CUDA_ARCH),)
NVCCFLAGS += -arch=$(CUDA_ARCH)
endif
endif

ifeq ($(NVCC),from-pypi)
PYTHON_LIB := $(shell $(PYTHON) -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
override NVCC := ../.venv/lib/$(PYTHON_LIB)/site-packages/nvidia/cu13/bin/nvcc
NVCC_PACKAGES := nvcc-packages
endif
# PyPI's nvcc does not find its own libraries
ifneq ($(findstring /site-packages/,$(NVCC)),)
NVCCFLAGS += -L$(NVCC:%/bin/nvcc=%/lib)
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
NVRTC_FOLDER := $$ORIGIN/../common/cpu/lib
endif
