# Which compiler: NVIDIA's nvcc for a GPU, or cpu/nvcc, which compiles for the CPU; and which Python.
# doctor.py answers once, for all stages; BACKEND=cuda|cpu overrules it, REQUIRE_GPU=1 refuses the CPU.
define newline


endef
ifndef DOCTOR
# its answer alone: Python, or what is called so, may say more
DOCTOR := $(shell \
    BACKEND='$(BACKEND)' NVCC='$(NVCC)' REQUIRE_GPU='$(REQUIRE_GPU)' PYTHON='$(PYTHON)' \
    CC='$(if $(filter default,$(origin CC)),,$(CC))' CXX='$(if $(filter default,$(origin CXX)),,$(CXX))' \
    '$(PYTHON)' $(COMMON)/doctor.py make 2>/dev/null | grep '^override \|^[$$].error ')
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

# the host compiler: gcc and g++, unless CC or CXX is set, and not to nothing
CFLAGS ?= -O2
ifneq ($(filter default,$(origin CC))$(if $(CC),,empty),)
override CC := gcc
endif
ifneq ($(filter default,$(origin CXX))$(if $(CXX),,empty),)
override CXX := g++
else
NVCCFLAGS += -ccbin $(CXX)
endif

# The folder of NVRTC, which a program opens while it runs; empty if it lies where the loader looks.
NVCC_FOLDER = $(shell dirname "$$(realpath "$$(command -v $(NVCC))")")
NVRTC_FOLDER = $(shell ls -d '$(NVCC_FOLDER)'/../lib*/libnvrtc.so.1[0-9]* '$(NVCC_FOLDER)'/../targets/*/lib/libnvrtc.so.1[0-9]* \
    2>/dev/null | sed 's|/[^/]*$$||;q')
ifeq ($(BACKEND),cpu)
NVRTC_FOLDER = $$ORIGIN/$(COMMON)/cpu/lib
endif
