#include "../cooperative_groups.h" // which has reduce
