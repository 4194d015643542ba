/* An application above TCP: each message of four bytes is a number, and the next one goes back before any process runs.
   What comes in other portions the process answers. */
#include <drystone/tcp.h>

LICENSE("MIT OR Apache-2.0");

s32 stream_arrived(u32 at, u32 length) {
    if (length != 4) return LEAVE;
    u32 number = 0;
    for (u32 i = 0; i < 4; i++) number |= (u32)stream.coming[(at + i) & (COMING - 1)] << 8 * i;
    number++;
    for (u32 i = 0; i < 4; i++) stream.answer[i] = number >> 8 * i;
    return 4;
}
