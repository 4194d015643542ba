#include "checks.h"

struct list { int value; struct list *rest; };
struct tree { struct tree *left, *right; };
typedef int encoder(char *buffer, struct list *first, const struct tree *tree);
encoder encode, encode_special;

struct seen { int length; char buffer[68]; };

/* A list and a tree of so many elements; the list is too long for the buffer if there are more than eight. */
static struct seen run(encoder *encode, unsigned elements) {
    struct list list[10];
    struct tree tree[10] = { 0 };
    struct seen seen = { 0 };
    random_state = elements;
    for (unsigned at = 0; at < elements; at++) {
        list[at] = (struct list) { next(), at + 1 < elements ? &list[at + 1] : NULL };
        struct tree *to = &tree[0];
        for (struct tree **branch; at > 0; to = *branch) {
            branch = next() & 1 ? &to->left : &to->right;
            if (!*branch) {
                *branch = &tree[at];
                break;
            }
        }
    }
    seen.length = encode(seen.buffer, list, tree);
    return seen;
}

int main(void) {
    for (unsigned elements = 1; elements <= 10; elements++) {
        struct seen original = run(encode, elements), special = run(encode_special, elements);
        same("the message", &original, &special, sizeof original);
        show("message", special.buffer, sizeof special.buffer);
    }
}
