# pointer opens libpointer.so while it runs: it is not linked with it.
LINK :=
