#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int half(float *x, int n);
#ifdef __cplusplus
}
#endif
