/* Section 3.2.2, static destination and static source: "the copy operation can be completely performed, and thus
 * eliminated, during the transformation phase".
 *
 * Vanished: the buffers `first` and `second` and both copies between buffers; the four bytes go from `in` to `out`. */

void *memcpy(void *, const void *, unsigned long);

void static_static(const char *in, char *out) {
    char first[8], second[8];
    memcpy(first, in, 4);
    memcpy(first + 4, in + 4, 4);
    memcpy(second, first, 8);           /* static, static */
    for (int i = 0; i < 4; i++) out[i] = second[i + 2];
}
