#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void *load_ptr(const void *p) { void *v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

uint32_t encode_special(void *, void *, void *);
static void count(void *, void *);

/* encode, specialised */
uint32_t encode_special(void *buffer, void *first, void *tree)
{
    _Alignas(4) char nodes[4];
    store_u32(nodes, 0);
    for (; tree != NULL; tree = load_ptr(tree + 8)) {
        store_u32(nodes, load_u32(nodes) + 1);
        for (void *tree_tr = load_ptr(tree); tree_tr != NULL; tree_tr = load_ptr(tree_tr + 8)) {
            store_u32(nodes, load_u32(nodes) + 1);
            count(load_ptr(tree_tr), nodes);
        }
    }
    store_u32(buffer, load_u32(nodes));
    store_u32(buffer + 4, __builtin_bswap32(load_u32(first)));
    void *object = load_ptr(first + 8);
    bool cmp = object != NULL;
    store_u32(buffer + 8, cmp ? 16777216u : 0);
    if (cmp == 0) {
        return 8;
    }
    void *xdr_i_8 = buffer + 12;
    for (uint32_t xdr_i_16 = 56; (int32_t)xdr_i_16 >= 4; xdr_i_16 -= 8) {
        store_u32(xdr_i_8, __builtin_bswap32(load_u32(object)));
        object = load_ptr(object + 8);
        bool cmp2 = object != NULL;
        if ((int32_t)(xdr_i_16 - 4) < 4) {
            break;
        }
        store_u32(xdr_i_8 + 4, cmp2 ? 16777216u : 0);
        xdr_i_8 += 8;
        if (cmp2 == 0) {
            return (uintptr_t)xdr_i_8 - (uintptr_t)(buffer + 4);
        }
    }
    return 0xffffffffu;
}

/* generic */
static void count(void *tree, void *nodes)
{
    for (; tree != NULL; tree = load_ptr(tree + 8)) {
        store_u32(nodes, load_u32(nodes) + 1);
        count(load_ptr(tree), nodes);
    }
}
