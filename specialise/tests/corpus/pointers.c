/* Function pointers, pointers into tables, lists, a pointer to a pointer. */
#include <stdio.h>
#include <stdlib.h>

typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static const struct { const char *name; operation run; } table[] = { { "add", add }, { "sub", sub }, { "mul", mul } };

static int grid[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
static int *middle = &grid[1][2];
static int **way = &middle;
extern int other __attribute__((weak));
static int *volatile where = &other;
int shared = 17;
extern int renamed __attribute__((alias("shared")));

struct node { struct node *next; int value; };

static struct node *push(struct node *list, int value)
{
    struct node *node = malloc(sizeof *node);
    node->next = list;
    node->value = value;
    return node;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv)
{
    struct node *list = NULL;
    int values[] = { 5, -3, 12, 0, 7 };
    (void)argv;
    for (int i = 0; i < 3; i++) {
        printf("%s %d\n", table[i].name, table[(i + argc) % 3].run(20, i + argc));
        list = push(list, i * i);
    }
    for (struct node *node = list; node; node = node->next)
        printf("%d ", node->value);
    qsort(values, 5, sizeof *values, compare);
    for (int i = 4; i >= 0; i--)
        printf("%d ", *(values + i));
    **way += argc;
    printf("\n%d %d %td\n", grid[1][2], (*way)[-2], *way - grid[0]);
    renamed++;
    printf("%d %s\n", shared, where ? "there" : "not there");
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
