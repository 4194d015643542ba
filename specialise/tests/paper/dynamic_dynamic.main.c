#define NAME dynamic_dynamic
#include "cases.h"
