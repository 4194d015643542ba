/* Bytes, strings, memcpy and its kin, tables of strings, odd characters. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = { "one", "two \"quoted\"", "three\\back", "four\ttab\n", "\x01\x7f\xff" };
static char buffer[64] = "start";
static const char raw[8] = { 'a', 0, 'b', '\\', '"', 10, -1, 127 };

static unsigned long hash(const char *s)
{
    unsigned long h = 1469598103934665603UL;
    while (*s) {
        h ^= (unsigned char)*s++;
        h *= 1099511628211UL;
    }
    return h;
}

static void reverse(char *s, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        char c = s[i];
        s[i] = s[n - 1 - i];
        s[n - 1 - i] = c;
    }
}

int main(int argc, char **argv)
{
    char local[32];
    (void)argv;
    for (int i = 0; i < 5; i++)
        printf("%zu %016lx\n", strlen(words[i]), hash(words[i]));
    memset(local, 'x' + argc - 1, sizeof local);
    local[31] = 0;
    memcpy(local + argc, "copied", 6);
    memmove(local + 3, local, 10);
    strcat(buffer, local + 2);
    reverse(buffer, strlen(buffer));
    for (char *c = buffer; *c; c++)
        *c = (char)toupper(*c);
    puts(buffer);
    for (unsigned i = 0; i < sizeof raw; i++)
        printf("%d ", raw[i]);
    printf("\n%d %d\n", memcmp(raw, buffer, 8) > 0, strcmp(words[0], words[argc]) < 0);
    return 0;
}
