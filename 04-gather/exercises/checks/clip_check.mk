# clip_check.cu includes libclip.cu: built again when that changes.
clip_check: libclip.cu
