/* TCP's receive fast path as a fragment, `fragments/tcp.c`, above IP and below the application: header prediction, as
   in *ASHs*, section V-B. Predicted segments are processed at arrival; all others are passed on to the library, which
   shares the control block. */
#ifndef DRYSTONE_TCP_H
#define DRYSTONE_TCP_H

#include <drystone/ip.h>

/* Bytes that are buffered in each direction, and the longest answer at arrival. */
enum { COMING = 65536, GOING = 65536, ANSWER = 32 };

/* Who may change the control block. */
enum { NOBODYS = 0, HANDLERS = 1, LIBRARYS = 2 };

/* The control block, at the beginning of the region. The library accesses it as numbers of 64 bits in this order
   (platform/linux/stack). */
struct stream {
    u64 turn;
    u64 is_open;      /* Whether the handler may process segments. */
    u64 addresses;    /* Of received segments, as in the message: from in the lower half, to in the upper. */
    u64 ports;
    u64 next;         /* The sequence number that is expected. */
    u64 acknowledged; /* The sequence number up to which the other side has acknowledged, */
    u64 sent;         /* up to which was sent, */
    u64 said;         /* and up to which is to be sent. */
    u64 window;       /* Bytes that the other side takes from `acknowledged` on. */
    u64 told;         /* The end of the window that was advertised. */
    u64 come;         /* Bytes received since the beginning: the position in `coming` of the next one. */
    u64 taken;        /* How many of them the application has taken. */
    u64 waits;        /* Whether the application sleeps, and has to be woken. */
    u64 handled;      /* Segments that were processed at arrival; and that weren't, */
    u64 unexpected;   /* because they weren't as predicted, */
    u64 in_use;       /* because the library had the control block, */
    u64 behind;       /* because the application hasn't made room. */
    u64 answers;      /* Segments that the application has answered at arrival. */
    union {
        u8 answer[ANSWER];
        u64 answer_words[ANSWER / 8];
    };
    u8 coming[COMING];
    u8 going[GOING]; /* What was said, by sequence numbers: byte `s` is at `s % GOING`. */
};

/* The application's function: so many bytes have arrived, at `at` in the circular buffer `stream.coming`; no earlier
   ones wait for the process. `LEAVE` leaves them to the process. Any other result consumes them, and sends so many
   bytes of `stream.answer` with the acknowledgement. */
enum { LEAVE = -1 };
s32 stream_arrived(u32 at, u32 length);

extern SHARED struct stream stream;

#endif
