/* Figure 3 of the paper, with F used further on: "If F were used further, Tempo would have detected it and kept
 * this buffer in the transformed program."
 *
 * Vanished: the buffers C and D. F stays. */

typedef char buftype;                   /* The type of buffer elements */

extern void init(buftype v[], int len); /* initialise a buffer */

void *memcpy(void *, const void *, unsigned long);

static void copy(buftype dst[], buftype src[], int off_d, int off_s, int len) {
    memcpy(dst + off_d, src + off_s, len * sizeof(buftype));
}

int Dyn;                                /* Variable unknown until execution */

buftype A[1], B[2], E[4], H[1], K[1], F[4];
static buftype C[2], D[3];

void simple_used(void) {
    init(A, 1); init(B, 2); init(H, 1); init(K, 1);

    copy(D, A, 0, 0, 1);
    copy(C, B, 0, 0, 2);                /* assemble A and B */
    copy(D, C, 1, 0, 2);                /* into buffer D */

    copy(E, D, 1, 0, 3);                /* E will contain D plus a header */

    if (Dyn)                            /* add header H or K, but */
        { copy(E, H, 0, 0, 1); }
    else                                /* will not know which one until execution */
        { copy(E, K, 0, 0, 1); }

    copy(F, E, 0, 0, 4);
}
