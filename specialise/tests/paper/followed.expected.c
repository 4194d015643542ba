#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void *load_ptr(const void *p) { void *v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

void all_special(void *, void *);
static void written(void *, void *);
static uint32_t own(void *, uint32_t);
void stop(void);
static uint32_t decided(void *);
static uint32_t loaded(void *);
static uint32_t allocated(void *, uint32_t);
static uint32_t value_of(void *);

/* all, specialised */
void all_special(void *list, void *results)
{
    _Alignas(8) char sink[8];
    uint32_t x = load_u32(list + 8);
    void *p = load_ptr(list);
    if (p == NULL) {
        store_u32(sink, 0);
        store_u32(sink + 4, 1);
    } else {
        store_u32(sink, 0);
        store_u32(sink + 4, 1);
        written(p, sink);
    }
    store_u32(sink, x);
    store_u32(results, x);
    store_u32(results + 4, load_u32(sink + 4));
    uint32_t call3 = load_u32(list + 8);
    void *p2 = load_ptr(list);
    if (p2 == NULL) {
        store_u32(results + 8, 0);
        if (call3 == 0) {
            for (;;) {
                stop();
            }
        } else {
            store_u32(results + 12, 1);
            store_u32(results + 16, call3);
            store_u32(results + 20, 0);
        }
    } else {
        store_u32(results + 8, own(p2, 0));
        uint32_t x2 = load_u32(p2 + 8);
        void *p3 = load_ptr(p2);
        uint32_t common_ret_op;
        if (p3 == NULL) {
            if (x2 == 0) {
                for (;;) {
                    stop();
                }
            } else {
                common_ret_op = call3 == 0 ? 5u : 1;
            }
        } else {
            uint32_t call = decided(p3);
            common_ret_op = call3 == 0 ? 5 : (x2 == 0 ? 5 : call);
        }
        store_u32(results + 12, common_ret_op);
        void *p4 = load_ptr(list);
        if (p4 != NULL) {
            loaded(p4);
        }
        store_u32(results + 16, load_u32(list + 8));
        void *p5 = load_ptr(list);
        if (p5 == NULL) {
            store_u32(results + 20, 0);
        } else {
            store_u32(results + 20, allocated(p5, 0));
        }
    }
    uint32_t call9;
    do {
        call9 = load_u32(list + 8);
        list = load_ptr(list);
    } while (list != NULL);
    store_u32(results + 24, call9);
}

/* generic */
static void written(void *list, void *sink)
{
    uint32_t x = load_u32(list + 8);
    store_u32(sink + 4, load_u32(sink + 4) + 1);
    void *p = load_ptr(list);
    if (p != NULL) {
        written(p, sink);
    }
    store_u32(sink, x);
}

/* generic */
static uint32_t own(void *list, uint32_t first)
{
    uint32_t x = load_u32(list + 8);
    void *p = load_ptr(list);
    uint32_t call;
    if (p == NULL) {
        call = 0;
    } else {
        call = own(p, 0);
    }
    return first == 0 ? x : call;
}

/* generic */
static uint32_t decided(void *list)
{
    uint32_t x = load_u32(list + 8);
    void *p = load_ptr(list);
    uint32_t common_ret_op;
    if (p == NULL) {
        if (x == 0) {
            for (;;) {
                stop();
            }
        } else {
            common_ret_op = 1;
        }
    } else {
        uint32_t call = decided(p);
        common_ret_op = x == 0 ? 5 : call;
    }
    return common_ret_op;
}

/* generic */
static uint32_t loaded(void *list)
{
    void *p = load_ptr(list);
    if (p != NULL) {
        loaded(p);
    }
    return value_of(list);
}

/* generic */
static uint32_t allocated(void *list, uint32_t first)
{
    uint32_t x = load_u32(list + 8);
    void *p = load_ptr(list);
    uint32_t call4;
    if (p == NULL) {
        call4 = 0;
    } else {
        call4 = allocated(p, 0);
    }
    return first == 0 ? x : call4;
}

/* generic */
static uint32_t value_of(void *list)
{
    return load_u32(list + 8);
}
