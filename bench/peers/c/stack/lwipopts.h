/*
 * lwIP as a client of one program wants it: UDP over IPv4 over Ethernet, no threads, memory from the C library, no
 * statistics. All contenders are built so.
 */

#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_TIMERS 0

#define MEM_ALIGNMENT 8
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1

#define LWIP_UDP 1
#define LWIP_TCP 0
#define LWIP_RAW 0
#define LWIP_DNS 0
#define LWIP_IPV4 1
#define LWIP_ICMP 1
#define LWIP_ARP 1
#define ETHARP_SUPPORT_STATIC_ENTRIES 1
#define IP_FRAG 1
#define IP_REASSEMBLY 0

#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1

#endif
