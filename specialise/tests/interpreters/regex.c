/* A matcher of regular expressions (c . ^ $ *), after Kernighan and Pike; the text is made of the number. */

static int here(const unsigned char *expression, const char *text);

static int star(int c, const unsigned char *expression, const char *text) {
    do {
        if (here(expression, text)) return 1;
    } while (*text != 0 && (*text++ == c || c == '.'));
    return 0;
}

static int here(const unsigned char *expression, const char *text) {
    if (expression[0] == 0) return 1;
    if (expression[1] == '*') return star(expression[0], expression + 2, text);
    if (expression[0] == '$' && expression[1] == 0) return *text == 0;
    if (*text != 0 && (expression[0] == '.' || expression[0] == *text)) return here(expression + 1, text + 1);
    return 0;
}

static int match(const unsigned char *expression, const char *text) {
    if (expression[0] == '^') return here(expression + 1, text);
    do {
        if (here(expression, text)) return 1;
    } while (*text++ != 0);
    return 0;
}

int run(const unsigned char *expression, int x, char *out) {
    char text[6];
    for (int at = 0; at < 5; at++) text[at] = "abc"[(unsigned)(x >> 2 * at) % 3];
    text[5] = 0;
    out[0] = match(expression, text);
    return out[0];
}

int known(int x, char *out) {
    char text[4] = { "abc"[(unsigned)x % 3], "abc"[(unsigned)(x >> 2) % 3], "abc"[(unsigned)(x >> 4) % 3], 0 };
    out[0] = match((const unsigned char *)"^a.c$", text);
    return out[0];
}

int looping(int x, char *out) { return run((const unsigned char *)"a*b.c*$", x, out); }

const unsigned char *const programs[] = {
    (const unsigned char *)"^a.c$", (const unsigned char *)"a*b", (const unsigned char *)"^.*c$", (const unsigned char *)"", 0,
};
