/* An interpreter and what became of it must do the same, of a known program and of any. */
#include <stdio.h>
#include <string.h>

extern const unsigned char *const programs[];
int run(const unsigned char *, int, char *), run_special(const unsigned char *, int, char *);
int known(int, char *), known_special(int, char *);
int looping(int, char *), looping_special(int, char *);

static int compare(const char *what, int x, int first, int second, const char *one, const char *other) {
    if (first == second && !memcmp(one, other, 64)) return 0;
    printf("%s(%d): %d, but specialised %d\n", what, x, first, second);
    return 1;
}

int main(void) {
    int wrong = 0;
    for (int x = -40; x < 300; x++) {
        char one[64] = { 0 }, other[64] = { 0 };
        int first = known(x, one), second = known_special(x, other);
        wrong += compare("known", x, first, second, one, other);
        first = looping(x, one), second = looping_special(x, other);
        wrong += compare("looping", x, first, second, one, other);
        for (int at = 0; programs[at]; at++) {
            first = run(programs[at], x & 63, one), second = run_special(programs[at], x & 63, other);
            wrong += compare("run", x, first, second, one, other);
        }
    }
    return wrong != 0;
}
