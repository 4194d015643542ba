/* Functions with any number of arguments: called directly, through a pointer, and handing theirs on. */
#include <stdarg.h>
#include <stdio.h>

static int (*say)(const char *, ...) = printf;

__attribute__((format(printf, 2, 3))) static int tell(int level, const char *format, ...)
{
    va_list list;
    char line[80];
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    printf("[%d] %s (%d)\n", level, line, n);
    return n;
}

int main(int argc, char **argv)
{
    (void)argv;
    int n = tell(argc, "%d %s %c %g %ld", 42, "text", 'x', 2.5, 1L << 40);
    n += tell(2, "%g %g %g %g %g %g %g %g %g", 1., 2., 3., 4., 5., 6., 7., 8., 9.);
    say("%d %d %d %d %d %d %d %d\n", n, 2, 3, 4, 5, 6, 7, argc);
    (argc > 3 ? puts : puts)("end");
    return 0;
}
