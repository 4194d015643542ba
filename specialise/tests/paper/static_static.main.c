#define NAME static_static
#include "cases.h"
