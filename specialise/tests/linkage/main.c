/* The entry and what became of it must do the same, whoever defines the names. */

int entry(int x);
int entry_special(int x);
extern inline int same(int x) { return x ^ 5; }

int main(void) {
    for (int x = 0; x < 100; x++) {
        if (entry(x) != entry_special(x)) return 1;
    }
    return 0;
}
