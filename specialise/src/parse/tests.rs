use super::read;
use crate::ir::*;

fn module(text: &str) -> Module {
    read(text, "test.ll").unwrap_or_else(|error| panic!("{error}"))
}

fn body(module: &Module, name: &str) -> std::rc::Rc<Body> {
    let id = module.function(name).expect("the function is there");
    module.body(id).unwrap_or_else(|error| panic!("{error}")).expect("it has a body")
}

fn value(id: u32) -> Operand {
    Operand::Value(ValueId(id))
}

fn int(bits: u32, value: u128) -> Operand {
    Operand::Const(Const::int(bits, value))
}

#[test]
fn addresses_are_computed_to_bytes() {
    let module = module(
        "%struct.s = type { i32, [4 x %struct.t], ptr }
         %struct.t = type { i8, i16 }
         define ptr @f(ptr %p, i64 %i) {
           %1 = getelementptr inbounds %struct.s, ptr %p, i64 1, i32 1, i64 %i, i32 1
           ret ptr %1
         }",
    );
    let body = body(&module, "f");
    let op = Op::Address { base: value(0), offset: 32 + 4 + 2, terms: vec![(value(1), 4)] };
    assert_eq!(body.blocks[0].instructions[0].op, op);
}

#[test]
fn blocks_and_values_may_come_later() {
    let module = module(
        "define i32 @f(i32 %0) {
           br label %late
         early:
           ret i32 %x
         late:
           %x = phi i32 [ %0, %1 ]
           br label %early
         }",
    );
    let body = body(&module, "f");
    assert_eq!(body.blocks[0].terminator, Terminator::Jump(BlockId(2)));
    assert_eq!(body.blocks[1].terminator, Terminator::Return(Some(value(1))));
    assert_eq!(body.blocks[2].instructions[0].op, Op::Phi(vec![(value(0), BlockId(0))]));
    assert_eq!(&*body.names[1], "x");
}

#[test]
fn constants_are_evaluated() {
    let module = module(
        "@a = global [4 x i32] zeroinitializer
         @b = global ptr getelementptr inbounds ([4 x i32], ptr @a, i64 0, i64 3)
         @c = global i64 sub (i64 ptrtoint (ptr getelementptr (i8, ptr @a, i64 9) to i64), i64 ptrtoint (ptr @a to i64))
         @d = global ptr inttoptr (i64 -1 to ptr)
         @e = global <4 x float> splat (float 0x3FB99999A0000000)
         @f = global [3 x i8] c\"a\\5C\\00\"
         @g = alias i32, getelementptr (i8, ptr @a, i64 4)
         @h = global ptr @g",
    );
    let initial = |name| module.globals[module.global(name).unwrap().0 as usize].initial.clone().unwrap();
    assert_eq!(initial("b"), Const::Global(GlobalId(0), 12));
    assert_eq!(initial("c"), Const::int(64, 9));
    assert_eq!(initial("d"), Const::Pointer(Const::int(64, u64::MAX.into()).into()));
    let Const::Aggregate(_, elements) = initial("e") else { panic!() };
    assert_eq!(*elements, [const { Const::Float(0x3dcc_cccd) }; 4]);
    assert_eq!(initial("f"), Const::Bytes((*b"a\\\0").into()));
    assert_eq!(initial("h"), Const::Global(GlobalId(0), 4));
}

#[test]
fn one_function_that_is_not_understood_leaves_the_others() {
    let module = module(
        "declare x86_fp80 @sinl(x86_fp80)
         define i32 @bad() {
           call void asm sideeffect \"nop\", \"\"()
           ret i32 1
         }
         define i32 @good() {
           ret i32 2
         }",
    );
    let bad = module.body(module.function("bad").unwrap()).unwrap_err();
    assert_eq!((&*bad.function, bad.line, &*bad.what), ("bad", 3, "inline assembly"));
    assert_eq!(body(&module, "good").blocks[0].terminator, Terminator::Return(Some(int(32, 2))));
}

#[test]
fn places_are_found_through_scopes_and_inlining() {
    let module = module(
        "define void @outer() !dbg !4 {
           fence seq_cst, !dbg !7
           fence seq_cst, !dbg !7
           ret void, !dbg !8
         }
         !1 = !DIFile(filename: \"x.c\", directory: \"/\")
         !4 = distinct !DISubprogram(name: \"outer\", scope: !1, file: !1, line: 9, spFlags: DISPFlagLocal | \
           DISPFlagDefinition)
         !5 = distinct !DISubprogram(name: \"inner\", scope: !1, file: !1, line: 1)
         !6 = distinct !DILexicalBlock(scope: !5, file: !1, line: 2)
         !7 = !DILocation(line: 3, column: 4, scope: !6, inlinedAt: !8)
         !8 = distinct !DILocation(line: 10, column: 1, scope: !4)",
    );
    let body = body(&module, "outer");
    let [first, second] = &body.blocks[0].instructions[..] else { panic!() };
    assert_eq!(first.place, second.place);
    let place = module.place(first.place.unwrap());
    assert_eq!((&*place.file, place.line, place.column, &*place.function), ("x.c", 3, 4, "inner"));
    assert_eq!(place.inlined_at, body.blocks[0].place);
    assert_eq!(&*module.place(place.inlined_at.unwrap()).function, "outer");
}

#[test]
fn attributes_say_what_is_touched() {
    let module = module(
        "declare void @a() memory(none)
         declare void @b() #0
         declare void @c() #1
         declare void @d(ptr sret({ i64, i32 }) align 8, ptr byval(i64) align 16, i8 signext) noreturn
         attributes #0 = { nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) \"x\"=\"y\" }
         attributes #1 = { memory(read, argmem: readwrite) }",
    );
    let memory = |name| module.functions[module.function(name).unwrap().0 as usize].memory;
    assert_eq!(memory("a"), Effects::None);
    assert_eq!(memory("b"), Effects::ArgumentsOrInaccessible);
    assert_eq!(memory("c"), Effects::Any);
    let d = &module.functions[3];
    assert!(d.noreturn);
    assert_eq!(d.params[0].attributes.sret, Some((16, 8)));
    assert_eq!(d.params[1].attributes.byval, Some((8, 16)));
    assert_eq!(d.params[2].attributes.extension, Some(Extension::Sign));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let error = read("; nothing\n@x = globe i32 1\n", "x.ll").unwrap_err();
    assert_eq!((error.line, &*error.excerpt), (2, "@x = globe i32 1"));
    assert!(read("target triple = \"aarch64-linux-gnu\"", "x.ll").is_err());
    let deep = format!("@x = global {}i8{} undef", "[1 x ".repeat(9999), "]".repeat(9999));
    assert!(read(&deep, "x.ll").is_ok(), "a type nested too deep makes one variable unusable");
    assert!(read("%a = type { %a }\n@x = global %a zeroinitializer", "x.ll").is_err());
}

#[test]
fn nearly_everything_is_read_and_printed() {
    let read = |text: &str| read(text, "all.ll").unwrap_or_else(|error| panic!("{error}"));
    let module = read(include_str!("../../tests/ir/all.ll"));
    let unread = (0..module.functions.len()).filter_map(|id| module.body(FunctionId(id as u32)).err());
    let unread: Vec<String> = unread.map(|unsupported| unsupported.function.to_string()).collect();
    assert_eq!(unread, ["not_read"]);
    // The reason why a function is not read is printed as a comment, which the second reading skips.
    let code = |text: &str| text.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join("\n");
    let printed = crate::print::print(&module);
    assert_eq!(code(&printed), code(&crate::print::print(&read(&printed))));
}

#[test]
fn addresses_are_printed_as_they_were() {
    let terms = |scales: &[i64]| scales.iter().map(|scale| (value(1), *scale)).collect();
    for scales in [&[][..], &[1], &[8], &[24, 8], &[24, 7], &[3, 24, 5, 1]] {
        for offset in [0, 5, -3] {
            let mut module = module("define ptr @f(ptr %0, i64 %1) {\n  ret ptr %0\n}");
            let op = Op::Address { base: value(0), offset, terms: terms(scales) };
            let mut body = Body::clone(&body(&module, "f"));
            body.types.push(Type::Ptr);
            let result = Some(ValueId(2));
            let address = Instruction { result, ty: Type::Ptr, op: op.clone(), place: None };
            body.blocks[0].instructions.push(address);
            module.functions[0].code = Code::Body(body.into());
            let text = crate::print::print(&module);
            let again = read(&text, "printed.ll").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(self::body(&again, "f").blocks[0].instructions[0].op, op, "{text}");
        }
    }
}

/// A short form of the fuzzer's test: parts of a readable text are replaced by other parts of it.
#[test]
fn torn_text_is_refused_or_read_but_never_panics() {
    let whole = include_str!("../../tests/ir/all.ll");
    let words: Vec<&str> = whole.split_inclusive(&[' ', ',', '(', ')', '\n'][..]).collect();
    let rounds = std::env::var("TORN").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1000);
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut understood = 0;
    for _ in 0..rounds {
        let mut torn = words.clone();
        for _ in 0..1 + random(4) {
            let (at, other) = (random(torn.len()), random(words.len()));
            match random(3) {
                0 => torn[at] = words[other],
                1 => torn.insert(at, words[other]),
                _ => drop(torn.remove(at)),
            }
        }
        let Ok(module) = read(&torn.concat(), "torn.ll") else { continue };
        understood += 1;
        let printed = crate::print::print(&module);
        let again = read(&printed, "printed.ll").unwrap_or_else(|error| panic!("{error}\n{printed}"));
        let code =
            |text: &str| text.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join("\n");
        assert_eq!(code(&printed), code(&crate::print::print(&again)));
        let _ = crate::link::link(vec![module, again]).map(|linked| crate::print::print(&linked));
    }
    assert!(understood > rounds / 10, "most texts are refused before their bodies are read: {understood}");
}
