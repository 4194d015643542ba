#include "checks.h"

struct list { struct list *rest; int value; };
typedef void followed(struct list *list, int *results);
followed all, all_special;

void stop(void) {
    exit(0);
}

int main(void) {
    for (int length = 1; length <= 5; length++) {
        struct list list[5];
        for (int at = 0; at < length; at++) {
            list[at] = (struct list) { at + 1 < length ? &list[at + 1] : NULL, at == 2 && length > 3 ? 0 : at + 1 };
        }
        int original[7], special[7];
        all(list, original);
        all_special(list, special);
        same("what the functions gave", original, special, sizeof original);
        show("results", special, sizeof special);
    }
}
