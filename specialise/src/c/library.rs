//! Functions of the C library that compilers know by name. They are declared as in C's headers, because other
//! declarations cause warnings.

use super::types::CType;
use crate::ir::{Function, Type};

/// The declarations known here: first functions that `<string.h>` declares, then those that the text must declare
/// itself.
const KNOWN: &[&str] = &[
    "<string.h> void *memcpy(void *, const void *, size_t)",
    "<string.h> void *memmove(void *, const void *, size_t)",
    "<string.h> void *memset(void *, int, size_t)",
    "<string.h> void *memchr(const void *, int, size_t)",
    "<string.h> int memcmp(const void *, const void *, size_t)",
    "<string.h> size_t strlen(const char *)",
    "<string.h> int strcmp(const char *, const char *)",
    "<string.h> int strncmp(const char *, const char *, size_t)",
    "<string.h> char *strcpy(char *, const char *)",
    "<string.h> char *strncpy(char *, const char *, size_t)",
    "<string.h> char *strcat(char *, const char *)",
    "<string.h> char *strncat(char *, const char *, size_t)",
    "<string.h> char *strchr(const char *, int)",
    "<string.h> char *strrchr(const char *, int)",
    "<string.h> char *strstr(const char *, const char *)",
    "<string.h> size_t strspn(const char *, const char *)",
    "<string.h> size_t strcspn(const char *, const char *)",
    "<string.h> char *strpbrk(const char *, const char *)",
    "void *malloc(size_t)",
    "void *calloc(size_t, size_t)",
    "void *realloc(void *, size_t)",
    "void *aligned_alloc(size_t, size_t)",
    "void free(void *)",
    "_Noreturn void exit(int)",
    "_Noreturn void abort(void)",
    "int abs(int)",
    "long labs(long)",
    "int printf(const char *, ...)",
    "int sprintf(char *, const char *, ...)",
    "int snprintf(char *, size_t, const char *, ...)",
    "int puts(const char *)",
    "int putchar(int)",
    "int isalnum(int)",
    "int isalpha(int)",
    "int isdigit(int)",
    "int isspace(int)",
    "int isupper(int)",
    "int islower(int)",
    "int isxdigit(int)",
    "int ispunct(int)",
    "int isprint(int)",
    "int toupper(int)",
    "int tolower(int)",
];

/// A function of the C library.
pub(super) struct Known {
    /// Its declaration, without the semicolon; `None` if a header has it.
    pub declaration: Option<&'static str>,
    /// The type of its result.
    pub result: CType,
}

/// C's declaration of a function, if it fits the module's declaration.
pub(super) fn known(function: &Function) -> Option<Known> {
    let line = KNOWN.iter().find(|line| declared_name(line) == &*function.name)?;
    let (in_header, declaration) = match line.strip_prefix("<string.h> ") {
        Some(rest) => (true, rest),
        None => (false, *line),
    };
    let (head, params) = declaration.split_once('(')?;
    let params: Vec<&str> =
        params.trim_end_matches(')').split(", ").filter(|param| !matches!(*param, "void" | "...")).collect();
    let fits = params.len() == function.params.len()
        && params.iter().zip(&function.params).all(|(text, param)| is_type(text, &param.ty))
        && declaration.ends_with("...)") == function.variadic;
    let head = head.trim_start_matches("_Noreturn ");
    let head = &head[..head.len() - function.name.len()];
    if !fits || !is_type(head.trim_end(), &function.result) {
        return None;
    }
    let result = match head.trim() {
        "int" => CType::Signed(32),
        "long" => CType::Signed(64),
        "size_t" => CType::Unsigned(64),
        _ => CType::Other,
    };
    Some(Known { declaration: (!in_header).then_some(declaration), result })
}

/// The names that belong to C, whether or not a module uses them as C does.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|line| declared_name(line)).chain(OTHERS.split_whitespace())
}

/// Functions that compilers know but whose types need a header.
const OTHERS: &str = "fprintf vprintf vfprintf vsprintf vsnprintf fputs fputc fwrite fputs_unlocked putc scanf sscanf \
    fscanf vscanf vsscanf vfscanf llabs imaxabs isascii toascii iscntrl isgraph isblank execl execlp execle \
    execv execvp execve fork ffsl ffsll strfmon strftime posix_memalign putchar_unlocked puts_unlocked \
    printf_unlocked fprintf_unlocked gettext dgettext dcgettext _exit _Exit setjmp longjmp siglongjmp \
    sigsetjmp vfork alloca qsort fopen fclose fread getc fgetc gets";

fn declared_name(line: &str) -> &str {
    let head = line.split('(').next().unwrap_or(line);
    head.rsplit([' ', '*']).next().unwrap_or(head)
}

fn is_type(text: &str, ty: &Type) -> bool {
    match ty {
        Type::Void => text == "void",
        Type::Ptr => text.ends_with('*'),
        Type::Int(32) => text == "int",
        Type::Int(64) => matches!(text, "long" | "size_t"),
        _ => false,
    }
}
