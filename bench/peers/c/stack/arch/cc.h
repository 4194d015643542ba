/* What lwIP asks of a compiler: nothing that C11 does not have. */

#ifndef ARCH_CC_H
#define ARCH_CC_H

#include <stdlib.h>

#define LWIP_PLATFORM_DIAG(message)
#define LWIP_PLATFORM_ASSERT(message) abort()

#endif
