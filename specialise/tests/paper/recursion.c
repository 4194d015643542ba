/* Recursion whose depth is unknown. The call of `list` within itself, through another function and a pointer, is
   followed by nothing but giving back the status: it becomes a loop. The first call of `count` within itself is
   followed by a second one: it stays a call. */

enum operation { ENCODE, DECODE };

struct xdr {
    enum operation operation;
    char *next;
    int left;
};

typedef int (*procedure)(struct xdr *, void *);

struct list {
    int value;
    struct list *rest;
};

struct tree {
    struct tree *left, *right;
};

static int word(struct xdr *xdr, int *value) {
    if ((xdr->left -= 4) < 0)
        return 0;
    if (xdr->operation == ENCODE)
        *(int *)xdr->next = __builtin_bswap32(*value);
    else
        *value = __builtin_bswap32(*(int *)xdr->next);
    xdr->next += 4;
    return 1;
}

static int optional(struct xdr *xdr, void **object, procedure procedure) {
    int there = *object != 0;

    if (!word(xdr, &there))
        return 0;
    if (!there) {
        if (xdr->operation == DECODE)
            *object = 0;
        return 1;
    }
    return procedure(xdr, *object);
}

static int list(struct xdr *xdr, void *object) {
    struct list *list_of = object;

    if (!word(xdr, &list_of->value))
        return 0;
    if (!optional(xdr, (void **)&list_of->rest, list))
        return 0;
    return 1;
}

int encode_list(char *buffer, struct list *first) {
    struct xdr xdr = { ENCODE, buffer, 64 };

    if (!list(&xdr, first))
        return -1;
    return xdr.next - buffer;
}

static void count(const struct tree *tree, int *nodes) {
    if (!tree)
        return;
    ++*nodes;
    count(tree->left, nodes);
    count(tree->right, nodes);
}

int encode(char *buffer, struct list *first, const struct tree *tree) {
    int nodes = 0;

    count(tree, &nodes);
    *(int *)buffer = nodes;
    return encode_list(buffer + 4, first);
}
