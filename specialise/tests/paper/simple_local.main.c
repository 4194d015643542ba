#define NAME simple_local
#include "simple.main.c"
