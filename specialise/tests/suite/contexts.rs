//! Senseless contexts are refused, with a message that says what is wrong.

use drystone_specialise::{Context, parse, specialise};

const PROGRAM: &str = "
@table = global [4 x i32] zeroinitializer
define i32 @entry(ptr %at, i8 %byte, double %real) {
  %it = load i32, ptr %at
  ret i32 %it
}
declare void @log()
declare i32 @setjmp(ptr)
define void @prepare() {
  %again = call i32 @setjmp(ptr @table)
  ret void
}
";

/// Contexts of `entry`, and a part of what is said of each.
const REFUSED: &[(&str, &str)] = &[
    ("colour = 3", "unknown field `colour`"),
    ("name = \"a-b\"", "is no name in C"),
    ("name = \"table\"", "the program has one already"),
    ("keep = [\"entry\"]", "the entry itself"),
    ("keep = [\"flush\"]", "there is no function flush"),
    ("initialisers = [\"flush\"]", "flush"),
    ("initialisers = [\"prepare\"]", "prepare calls setjmp, which returns twice"),
    ("[global.tables]\nconstant = true", "there is no global variable tables"),
    ("[argument.to]\nvalue = 1", "entry has no parameter to; it has: at, byte, real"),
    ("[argument.byte]\nvalue = 256", "256 does not fit into its 8 bits"),
    ("[argument.byte]\nsize = 4", "it is no pointer"),
    ("[argument.at]\nvalue = 8", "a pointer has no number but 0"),
    ("[argument.at]\nvalue = 0\nsize = 4", "it can't be the null pointer and point to something"),
    (
        "[argument.at]\nvalue = 0\ncontents = [{ at = 0, type = \"i8\", value = 1 }]",
        "it can't be the null pointer",
    ),
    ("[argument.at]\nsymbol = \"tables\"", "there is no tables in the program"),
    ("[argument.at]\nsymbol = \"table\"\nsize = 16", "of which nothing more can be said"),
    ("[argument.at]\nsize = 8\n[argument.0]\nsize = 4", "the context speaks twice of parameter 0"),
    ("[argument.real]\nvalue = 1", "it is no integer"),
    (
        "[argument.at]\ncontents = [{ at = 0, type = \"ptr\", symbol = \"log\", offset = 4 }]",
        "log is a function",
    ),
    (
        "[argument.at]\ncontents = [{ at = 0, type = \"ptr\", offset = 4 }]",
        "an `offset` is one from a `symbol`",
    ),
    ("[argument.at]\nalign = 3", "its alignment is no power of two"),
    ("[argument.at]\ncontents = [{ at = 0, type = \"i24\", value = 1 }]", "unknown variant `i24`"),
    ("[argument.at]\ncontents = [{ at = 0, type = \"i8\", value = 300 }]", "300 does not fit into 8 bits"),
    ("[argument.at]\ncontents = [{ at = 0, type = \"i8\" }]", "an integer has a `value`"),
    (
        "[argument.at]\ncontents = [{ at = 0, type = \"i64\", symbol = \"table\" }]",
        "an integer has a `value`",
    ),
    ("[argument.at]\ncontents = [{ at = 0, type = \"ptr\", symbol = \"tables\" }]", "there is no tables"),
    ("[argument.at]\ncontents = [{ at = 0, type = \"ptr\", value = 8 }]", "a pointer is to a `symbol`"),
    (
        "[argument.at]\nsize = 6\ncontents = [{ at = 4, type = \"i32\", value = 1 }]",
        "4 bytes from there are more than its size, 6",
    ),
    (
        "[argument.at]\ncontents = [{ at = 4, type = \"i32\", value = 1 }, { at = 2, type = \"i32\", value = 1 }]",
        "the context says twice what at points to at 4",
    ),
];

#[test]
fn senseless_contexts_are_refused() {
    let module = parse::read(PROGRAM, "program.ll").expect("IR that can be read");
    for (said, expected) in REFUSED {
        let read = Context::read(&format!("entry = \"entry\"\n{said}"));
        let specialised = read.map_err(|error| error.to_string()).and_then(|context| {
            specialise(&module, &context).map(|_| "accepted").map_err(|error| error.to_string())
        });
        let message = specialised.expect_err(said);
        assert!(message.contains(expected), "{said}\n{message}");
    }
}

#[test]
fn sensible_contexts_are_accepted() {
    let module = parse::read(PROGRAM, "program.ll").expect("IR that can be read");
    for said in [
        "keep = [\"log\"]\n[global.table]\nconstant = true\n[argument.byte]\nvalue = 255",
        "[argument.0]\nvalue = 0\n[argument.1]\nvalue = -128",
        "[argument.at]\nsize = 8\ncontents = [{ at = 4, type = \"i32\", value = -1 }, \
         { at = 0, type = \"i32\", value = 1 }]",
        "[argument.at]\ncontents = [{ at = 0, type = \"ptr\", symbol = \"table\", offset = 4 }, \
         { at = 8, type = \"ptr\" }]",
    ] {
        let context = Context::read(&format!("entry = \"entry\"\n{said}")).expect(said);
        specialise(&module, &context).expect(said);
    }
}
