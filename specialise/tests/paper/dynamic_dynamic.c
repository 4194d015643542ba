/* Section 3.2.2, dynamic destination and dynamic source: "no information is available. The copy invocation remains in
 * the transformed program".
 *
 * Vanished: nothing; where in `chosen` the bytes go and how many they are is unknown, and `init` sees it all. */

void init(char *bytes, unsigned length);
void *memmove(void *, const void *, unsigned long);

void dynamic_dynamic(const char *in, char *out) {
    char filled[16] = { 1 }, chosen[32] = { 2 };
    init(filled, 16);
    init(chosen, 32);
    memmove(chosen + (in[0] & 15), filled, in[1] & 15); /* dynamic, dynamic */
    init(chosen, 32);
    out[0] = chosen[in[2] & 31];
}
