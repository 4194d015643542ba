/* Section 3.2.2, dynamic destination and static source: "the destination buffer is not eliminated. As well, the copy
 * operation to this buffer remains; its source will correspond to the root of the source buffer history. Notice that if
 * the source buffer itself is built from several origins, code must be generated for several copies".
 *
 * Vanished: the buffer `joined`; `given` gets its bytes from `in` and from the header's constants. */

void init(char *bytes, unsigned length);
void *memcpy(void *, const void *, unsigned long);

void dynamic_static(const char *in, char *out) {
    static const char header[4] = { 'D', 'R', 'Y', 1 };
    char joined[12], given[16];
    memcpy(joined, header, 4);
    memcpy(joined + 4, in, 8);
    given[12] = given[13] = given[14] = given[15] = 0;
    memcpy(given, joined, 12);          /* dynamic, static */
    init(given, 16);
    out[0] = given[in[2] & 15];
}
