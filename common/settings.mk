# What can be set, for make help, and the Python that make itself starts.
SETTINGS := BACKEND=cuda|cpu  CUDA_ARCH=sm_80  NVCC=  CC=  CXX=  CFLAGS=-O2  PYTHON=  REQUIRE_GPU=1
PYTHON ?= python3
NO_PYTHON = $(PYTHON) $(if $(shell command -v '$(PYTHON)'),is broken or older than Python 3.9: make PYTHON=... names another,is \
    missing: sudo apt-get install -y python3-dev python3-venv)
