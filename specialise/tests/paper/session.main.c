#include "checks.h"

extern unsigned position;
extern unsigned char device[4][128];
void open_session(void);
int transact(const unsigned char *in);
int transact_special(const unsigned char *in);

struct seen { int results[20]; unsigned position; unsigned char device[4][128]; };

static void run(int (*transaction)(const unsigned char *), struct seen *seen) {
    position = 0;
    random_state = 7;
    memset(device, 0, sizeof device);
    for (int round = 0; round < 20; round++) {
        unsigned char in[8];
        scatter(in, sizeof in);
        seen->results[round] = transaction(in);
    }
    seen->position = position;
    memcpy(seen->device, device, sizeof device);
}

int main(void) {
    static struct seen original, special;
    open_session();
    run(transact, &original);
    run(transact_special, &special);
    same("what the session did", &original, &special, sizeof original);
    show("the device", special.device[2], special.position);
}
