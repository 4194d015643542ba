/* Two packet filters; each gives how many bytes of a packet are wanted, 0 if none. */

#ifndef MATCH_H
#define MATCH_H

#include <stdint.h>

uint32_t match_web(const unsigned char *restrict packet, uint32_t length);
uint32_t match_nfs(const unsigned char *restrict packet, uint32_t length);

#endif
