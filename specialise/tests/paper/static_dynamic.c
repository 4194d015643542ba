/* Section 3.2.2, static destination and dynamic source: "although the origin of the source is unknown, the copy
 * operation can still be performed. It consists of creating a new history starting from the address of the source".
 *
 * Vanished: the buffer `held`; `filled` stays, since only `init` knows what is in it. */

void init(char *bytes, unsigned length);
void *memcpy(void *, const void *, unsigned long);

void static_dynamic(const char *in, char *out) {
    char filled[16] = { 0 }, held[16];
    filled[0] = in[0];
    init(filled, 16);
    memcpy(held, filled, 16);           /* static, dynamic */
    out[0] = held[3];
    out[1] = held[11];
    out[2] = held[0];
}
