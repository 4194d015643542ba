//! Help for names that other languages predeclare: what to write here instead.

/// The help for an undeclared name, if another language predeclares it.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "string" | "str" => "a text is of type TEXT",
        "int" | "long" | "short" | "longint" | "int64" | "i64" | "cardinal" | "unsigned" => {
            "whole numbers are of type INTEGER"
        }
        "float" | "double" | "f64" | "float64" | "longreal" => "numbers with a fraction are of type REAL",
        "bool" => "TRUE and FALSE are of type BOOLEAN",
        "char" | "byte" | "rune" => "one byte is of type CHARACTER",
        "writeln" | "println" | "print" | "printf" | "puts" | "echo" | "cout" => {
            "WRITE(x) writes any value, WRITELINE ends the line"
        }
        "read" | "readln" | "readline" | "input" | "scanf" | "gets" => {
            "require Console, then Console!ReadLine; Console?Line(x)"
        }
        "stderr" | "eprintln" | "eprint" | "perror" | "cerr" => {
            "require ErrorOutput, then ErrorOutput!Write(x): standard error"
        }
        "getenv" | "environ" => "require Environment, then Environment!Get(name)",
        "signal" | "sigaction" | "trap" => {
            "require Signals, then Signals!Watch; Signals?Watching; Signals?Terminate"
        }
        "system" | "popen" | "exec" | "execve" => {
            "require Processes, then Processes!Program(name); Processes!Start"
        }
        "mkdir" | "rmdir" => "require Folders, then Folders!Make(name) or Folders!Remove(name)",
        "len" | "strlen" | "size" | "length" => "LENGTH(t) is the length of a text",
        "nil" | "null" | "none" | "undefined" => {
            "there are no references: EXISTS(x) tells whether x holds something"
        }
        "sleep" | "wait" | "delay" => "PASSIVATE(n) waits for n milliseconds",
        "exit" | "quit" | "abort" | "panic" => "HALT(n) ends the program, RETURN a procedure, EXIT a loop",
        "break" => "EXIT leaves a loop",
        "continue" => "put what is left out into IF .. THEN .. END",
        "chr" => "CHARACTER(n) is the character of a number",
        "ord" => "INTEGER(c) is the number of a character",
        "itoa" | "tostring" | "sprintf" => "TEXT(x) spells a value",
        "atoi" | "parseint" | "strtol" => "NUMBER(t, x) reads a number from a text",
        "substr" | "substring" => "SLICE(t, from, n) is a part of a text",
        "indexof" | "strpos" => "FIND(t, part, from) finds a part of a text",
        "floor" | "trunc" | "entier" => "INTEGER(x) floors a REAL",
        "lock" | "mutex" | "synchronized" => "BEGIN {EXCLUSIVE} .. END has the component alone",
        "spawn" | "go" | "thread" | "async" => "NEW(x) makes a component, whose ACTIVITY runs beside this",
        "raise" | "throw" => "there are no exceptions: write a message for what may go wrong",
        "free" | "dispose" => "DELETE(x) ends a component; what else holds values needs no care",
        "this" | "self" | "me" => {
            "a component names its own variables and procedures without anything before them"
        }
        _ => return None,
    })
}
