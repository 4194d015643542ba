/* TCP's receive fast path as a fragment, `fragments/tcp.c`, above that of IP and below the application's: header
   prediction, as in section V-B of the paper on handlers. What is predicted is done at arrival, all else is passed on
   to the library, which has the same control block. */
#ifndef DRYSTONE_TCP_H
#define DRYSTONE_TCP_H

#include <drystone/ip.h>

/* Bytes that wait in each direction; and that an application can answer at arrival. */
enum { COMING = 65536, GOING = 65536, ANSWER = 32 };

/* Whose turn it is to change the control block. */
enum { NOBODYS = 0, HANDLERS = 1, LIBRARYS = 2 };

/* The control block: it begins the region. The library knows it as numbers of 64 bits in this order
   (platform/linux/stack). */
struct stream {
    u64 turn;
    u64 is_open;      /* The handler may do something at all. */
    u64 addresses;    /* Of segments that come, as they lie in the message: from, and to above it. */
    u64 ports;
    u64 next;         /* The sequence number that is expected. */
    u64 acknowledged; /* What the other side has of what was sent, */
    u64 sent;         /* what was sent, */
    u64 said;         /* and what is to be: sequence numbers. */
    u64 window;       /* Bytes that the other side takes from `acknowledged` on. */
    u64 told;         /* Up to where the other side was told that it may send. */
    u64 come;         /* Bytes that have come since the beginning: where in `coming` the next one goes. */
    u64 taken;        /* How many of them the application has taken. */
    u64 waits;        /* The application sleeps, and wants to be told. */
    u64 handled;      /* Segments that were done at arrival; and that weren't, */
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

/* What the application has: so many bytes have come, and lie in `stream.coming` from `at` on, round its end; none
   before them wait for the process. `LEAVE` has them wait for that. All else consumes them: so many bytes of
   `stream.answer` go back with the acknowledgement. */
enum { LEAVE = -1 };
s32 stream_arrived(u32 at, u32 length);

extern SHARED struct stream stream;

#endif
