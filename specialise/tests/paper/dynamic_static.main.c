#define NAME dynamic_static
#include "cases.h"
