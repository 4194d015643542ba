#include <stdint.h>
struct two { uint64_t a, b; };
struct mixed { double d; int32_t i; };
struct small { int32_t a; _Bool b; char c; };
struct large { uint64_t a[5]; uint8_t b; };
struct odd { char bytes[21]; };
struct doubles { double x, y; };
extern int64_t foreign_number;
extern int64_t foreign_narrow(int8_t a, uint8_t b, int16_t c, uint16_t d, _Bool e, char f, int8_t g, uint8_t h);
extern int8_t foreign_byte(int64_t a);
extern _Bool foreign_truth(uint64_t a);
extern struct two foreign_two(struct two t, uint64_t k);
extern struct mixed foreign_mixed(struct mixed m, int k);
extern struct small foreign_small(struct small s);
extern struct large foreign_large(struct large l, int k, struct odd o);
extern struct doubles foreign_doubles(struct doubles d, float f);
extern double foreign_many(double a, float b, int c, double d, uint64_t e, double f, double g, double h, double i,
                           double j, double k, int8_t l, uint64_t m, uint64_t n, uint64_t o, double p);
extern uint64_t foreign_sum(int count, ...);
extern unsigned __int128 foreign_wide(unsigned __int128 a, __int128 b);
extern uint64_t foreign_calls(uint64_t a, int8_t (*narrow)(int8_t, uint16_t, _Bool),
                              struct two (*two)(struct two, int32_t),
                              struct large (*large)(struct large, struct odd, double), _Bool (*truth)(uint64_t));
