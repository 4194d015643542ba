/* A stack machine that chooses what to do by a switch. */
#include <stdint.h>

enum { HALT, PUSH, ADD, SUB, MUL, DUP, SWAP, GET, SET, JUMP, JUMP_IF_ZERO, OUT };

int run(const unsigned char *code, int x, char *out) {
    int32_t stack[16], variables[4] = { x, 0, 0, 0 };
    unsigned at = 0, top = 0, written = 0;
    for (;;) {
        switch (code[at++]) {
        case PUSH: stack[top++ & 15] = code[at++]; break;
        case ADD: top--; stack[(top - 1) & 15] += (uint32_t)stack[top & 15]; break;
        case SUB: top--; stack[(top - 1) & 15] -= (uint32_t)stack[top & 15]; break;
        case MUL: top--; stack[(top - 1) & 15] *= (uint32_t)stack[top & 15]; break;
        case DUP: stack[top & 15] = stack[(top - 1) & 15]; top++; break;
        case SWAP: {
            int32_t first = stack[(top - 1) & 15];
            stack[(top - 1) & 15] = stack[(top - 2) & 15];
            stack[(top - 2) & 15] = first;
            break;
        }
        case GET: stack[top++ & 15] = variables[code[at++] & 3]; break;
        case SET: variables[code[at++] & 3] = stack[--top & 15]; break;
        case JUMP: at = code[at]; break;
        case JUMP_IF_ZERO: at = stack[--top & 15] ? at + 1 : code[at]; break;
        case OUT: out[written++ & 63] = stack[--top & 15]; break;
        default: return stack[(top - 1) & 15];
        }
    }
}

/* (x + 3) * (x - 7), written out, or 5 if x is 0. */
static const unsigned char polynomial[] = {
    GET, 0, JUMP_IF_ZERO, 19, GET, 0, PUSH, 3, ADD, GET, 0, PUSH, 7, SUB, MUL, DUP, OUT, HALT, HALT, PUSH, 5, HALT,
};
/* 2 to the power of 5, times x, in a loop whose rounds are known. */
static const unsigned char power[] = {
    GET, 0, SET, 1, PUSH, 5, SET, 2,
    GET, 2, JUMP_IF_ZERO, 28, GET, 1, PUSH, 2, MUL, SET, 1, GET, 2, PUSH, 1, SUB, SET, 2, JUMP, 8,
    GET, 1, HALT,
};
/* The sum of the numbers to x, in a loop whose rounds are not. */
static const unsigned char sum[] = {
    GET, 0, JUMP_IF_ZERO, 20, GET, 1, GET, 0, ADD, SET, 1, GET, 0, PUSH, 1, SUB, SET, 0, JUMP, 0,
    GET, 1, HALT,
};

int known(int x, char *out) { return run(polynomial, x, out) + run(power, x, out); }
int looping(int x, char *out) { return run(sum, x & 63, out); }

const unsigned char *const programs[] = { polynomial, power, sum, 0 };
