/* Section 2, unfolding of multiple entry points: "the Unix system calls `write` and `writev`, where the first operation
 * is used to write a single value while the second operation writes a sequence of values".
 *
 * Vanished: the vector `vector` that the entry point for one value packs its argument in, the call to `write_vector`,
 * its loop over values, and `total_of`, since there is one value. */

void *memcpy(void *, const void *, unsigned long);

struct value { const void *base; unsigned long length; };

struct file { unsigned long position, limit; unsigned char *bytes; };

static unsigned long total_of(const struct value *vector, int count) {
    unsigned long total = 0;
    for (int i = 0; i < count; i++) total += vector[i].length;
    return total;
}

__attribute__((noinline)) long write_vector(struct file *file, const struct value *vector, int count) {
    if (count < 0 || count > 16) return -1;
    unsigned long total = total_of(vector, count);
    if (total > file->limit - file->position) return -1;
    for (int i = 0; i < count; i++) {
        memcpy(file->bytes + file->position, vector[i].base, vector[i].length);
        file->position += vector[i].length;
    }
    return (long)total;
}

long entry_points(struct file *file, const void *base, unsigned long length) {
    struct value vector[1] = { { base, length } };
    return write_vector(file, vector, 1);
}
