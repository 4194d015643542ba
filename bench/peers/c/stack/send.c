/*
 * Stubs over the real libtirpc and the real lwIP: the message is marshalled into a chain of pbufs, which goes through
 * udp_sendto, ip4_output_if, etharp_output and ethernet_output to a driver that copies it to where the hardware would
 * take it from.
 */

#include <string.h>

#include "calls.h"
#include "send.h"

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/udp.h"
#include "netif/ethernet.h"

/* Where the hardware takes the next frame from, and how long it is; the first one announces the address. */
struct device {
	unsigned char *frame;
	int length;
};

static unsigned char announcement[FRAME];
static struct device device = {announcement, 0};
static struct netif interface;
static struct udp_pcb *pcb;
static ip_addr_t server;

/* The address macros of send.h are four numbers, which must be seen as four arguments. */
#define ADDRESS(to, ...) IP4_ADDR(to, __VA_ARGS__)

static err_t transmit(struct netif *netif, struct pbuf *chain)
{
	struct device *device = netif->state;
	int at = 0;

	for (struct pbuf *part = chain; part != NULL; part = part->next) {
		if (part->len > FRAME - at)
			return ERR_BUF;
		memcpy(device->frame + at, part->payload, part->len);
		at += part->len;
	}
	device->length = at;
	return ERR_OK;
}

static err_t open_device(struct netif *netif)
{
	static const unsigned char hardware[] = {CLIENT_HARDWARE};

	netif->state = &device;
	netif->output = etharp_output;
	netif->linkoutput = transmit;
	netif->mtu = 1500;
	netif->hwaddr_len = sizeof hardware;
	memcpy(netif->hwaddr, hardware, sizeof hardware);
	netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
	return ERR_OK;
}

void open_stack(void)
{
	static struct eth_addr neighbour = {{SERVER_HARDWARE}};
	ip4_addr_t address, mask, gateway;

	open_client();
	lwip_init();
	ADDRESS(&address, CLIENT_ADDRESS);
	ADDRESS(&mask, NETWORK_MASK);
	ADDRESS(&gateway, SERVER_ADDRESS);
	ADDRESS(&server, SERVER_ADDRESS);
	netif_add(&interface, &address, &mask, &gateway, NULL, open_device, ethernet_input);
	netif_set_default(&interface);
	netif_set_up(&interface);
	etharp_add_static_entry(&server, &neighbour);
	pcb = udp_new();
	udp_bind(pcb, IP_ADDR_ANY, CLIENT_PORT);
}

/* Sends a message and gives the pbuf back. */
static int send(unsigned char *frame, struct pbuf *message)
{
	err_t error;

	device.frame = frame;
	error = udp_sendto(pcb, message, &server, SERVER_PORT);
	pbuf_free(message);
	return error == ERR_OK ? device.length : 0;
}

/* A small message is marshalled behind room for the headers. */
int send_pair(unsigned char *restrict frame, uint32_t xid, const struct pair *restrict pair)
{
	struct pbuf *message = pbuf_alloc(PBUF_TRANSPORT, CALL_HEADER + 8, PBUF_RAM);

	if (message == NULL)
		return 0;
	if (encode_pair(message->payload, xid, pair) != CALL_HEADER + 8) {
		pbuf_free(message);
		return 0;
	}
	return send(frame, message);
}

/* A large one lies in a buffer of the client, to which a pbuf refers; the stack puts another one with the headers
   before. */
#define SEND_ARRAY(n)                                                                                    \
	int send_array_##n(unsigned char *restrict frame, uint32_t xid, const int *restrict values)      \
	{                                                                                                \
		char buffer[CALL_HEADER + 4 + 4 * n] __attribute__((aligned(8)));                        \
		struct pbuf *message = pbuf_alloc(PBUF_RAW, sizeof buffer, PBUF_REF);                    \
                                                                                                         \
		if (message == NULL)                                                                     \
			return 0;                                                                        \
		message->payload = buffer;                                                               \
		if (encode_array_##n(buffer, xid, values) != sizeof buffer) {                            \
			pbuf_free(message);                                                              \
			return 0;                                                                        \
		}                                                                                        \
		return send(frame, message);                                                             \
	}
SEND_ARRAY(100)
SEND_ARRAY(250)
