#define NAME static_dynamic
#include "cases.h"
