/* Recursion that only looks as if nothing followed the call: something of the caller's own is given back or written,
   which the last activation has too. All of these calls stay calls, but the last function's, which gives back what it
   got from whatever depth. */
#include <stdlib.h>

struct list { struct list *rest; int value; };
struct sink { int first, count; };

void stop(void);

__attribute__((noinline)) static int own(struct list *list, int first) {
    int value = list->value, below = 0;
    if (list->rest) below = own(list->rest, 0);
    return first ? below : value;
}

__attribute__((noinline)) static void written(struct list *list, struct sink *sink) {
    int value = list->value;
    sink->count++;
    if (list->rest) written(list->rest, sink);
    sink->first = value;
}

static int decided(struct list *list) {
    int value = list->value;
    if (list->rest) {
        int below = decided(list->rest);
        return value ? below : 5;
    }
    if (!value) for (;;) stop();
    return 1;
}

__attribute__((noinline)) static int value_of(struct list *list) { return list->value; }

__attribute__((noinline)) static int loaded(struct list *list) {
    if (!list->rest) return value_of(list);
    loaded(list->rest);
    return value_of(list);
}

static void set(int *to, int value) { *to = value; }
static int get(int *from) { return *from; }

__attribute__((noinline)) static int allocated(struct list *list, int first) {
    int *own = malloc(4), below = 0;
    if (!own) exit(1);
    set(own, list->value);
    if (list->rest) below = allocated(list->rest, 0);
    return first ? below : get(own);
}

static int last(struct list *list) {
    int below = list->value;
    if (list->rest) below = last(list->rest);
    return below;
}

void all(struct list *list, int *results) {
    struct sink sink = { 0, 0 };

    written(list, &sink);
    results[0] = sink.first;
    results[1] = sink.count;
    results[2] = own(list, 1);
    results[3] = decided(list);
    results[4] = loaded(list);
    results[5] = allocated(list, 1);
    results[6] = last(list);
}
