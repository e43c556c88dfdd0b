# Where source finds NVRTC.
RPATH = -Wl,-rpath,'$(NVRTC_FOLDER)'
