#define NAME simple_used
#define F_LINKAGE extern
#include "simple.main.c"
