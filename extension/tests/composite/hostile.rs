//! Arbitrary bytes cause no panic, and take little memory.

use drystone_component::{Fingerprint, Type};
use drystone_extension::bytecode::assemble;
use drystone_extension::composite::*;
use proptest::prelude::*;

use crate::executors::{LIMITS, take};
use crate::generate;
use crate::script::Script;

fn empty(code: Code) -> Program {
    Program { communications: Vec::new(), variables: Vec::new(), calls: Vec::new(), code }
}

fn refused(program: &Program) -> String {
    let prepared = Prepared::<Script>::new(program.clone(), &LIMITS, Executor::Interpreter);
    prepared.err().map(|refusal| refusal.0).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn bytes_are_refused_or_run(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        take(&bytes, &[]);
    }

    /// Programs with some words changed go farther than any bytes.
    #[test]
    fn changed_programs_are_refused_or_run(
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0u32..40), 1..4),
        compiled in any::<bool>(),
    ) {
        let mut program = generate::program(&bytes);
        if compiled {
            program = program.compile(&Limits::default()).unwrap();
        }
        let mut encoded = program.encode();
        for (place, word) in changes {
            let at = 4 * place.index(encoded.len() / 4);
            let word = if word > 30 { u32::MAX - word } else { word };
            // A word, or a byte of an instruction.
            if compiled && word % 2 == 0 { encoded[at] ^= 1 << (word % 8) } else {
                encoded[at..at + 4].copy_from_slice(&word.to_be_bytes());
            }
        }
        take(&encoded, &bytes);
    }
}

#[test]
fn what_is_too_large_or_too_deep_is_refused() {
    let stop = || Code::Tree(Command::Stop);
    let mut program = empty(stop());
    program.add_variable(Type::Integer, Some(u32::MAX), Travels::In);
    let sentence =
        "its variables are more than 4096 values or 256 TEXTs: use shorter arrays, or several programs";
    assert_eq!(refused(&program), sentence);
    let mut program = empty(stop());
    program.add_variable(Type::Text, Some(257), Travels::In);
    assert_eq!(refused(&program), sentence);

    let mut deep = Command::Stop;
    for _ in 0..100 {
        deep = Command::Sequence(vec![deep]);
    }
    let program = empty(Code::Tree(deep));
    assert_eq!(refused(&program), "command 65 is nested more than 64 deep; use a longer sequence instead");
    let sentence = Program::decode(&program.encode(), &LIMITS).unwrap_err().0;
    assert_eq!(sentence, "these bytes are no program: commands are nested more than 64 deep");

    let mut deep = Expression::Integer(1);
    for _ in 0..100 {
        deep = Expression::Apply(Operation::Negate, vec![deep], 0);
    }
    let mut program = empty(stop());
    let it = program.add_variable(Type::Integer, None, Travels::Out);
    program.code = Code::Tree(Command::Assign(it, deep));
    assert!(
        refused(&program).starts_with("command 0, an assignment: an expression is nested more than 48 deep")
    );

    let many = empty(Code::Tree(Command::Sequence(vec![Command::Stop; 1 << 15])));
    let sentence = Program::decode(&many.encode(), &LIMITS).unwrap_err().0;
    assert_eq!(sentence, "the program has 131104 bytes, and at most 65536 are taken; split it");
}

#[test]
fn counts_that_arent_there_take_no_memory() {
    let mut bytes = empty(Code::Tree(Command::Stop)).encode();
    for at in [8, 12, 16] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(Program::decode(&bytes, &LIMITS).unwrap_err().0.ends_with("are more than follow"));
    }
    bytes[4] = 1;
    let sentence = Program::decode(&bytes, &LIMITS).unwrap_err().0;
    assert_eq!(
        sentence,
        "these bytes are no program: it is of version 16777217, and this server knows version 1"
    );
}

/// What makes no sense, and what is said about it.
#[test]
fn what_makes_no_sense_is_said_in_a_sentence() {
    let mut program = empty(Code::Tree(Command::Stop));
    program.communications.push(Fingerprint::of("a"));
    let number = program.add_variable(Type::Integer, None, Travels::Out);
    let text = program.add_variable(Type::Text, None, Travels::Out);
    let array = program.add_variable(Type::Integer, Some(3), Travels::Out);
    let test = program.add_call(Call { communication: 0, action: Action::Test(Pattern::Any), location: 0 });
    let said = |command: Command| refused(&Program { code: Code::Tree(command), ..program.clone() });
    let apply = |operation, operands: &[Expression]| Expression::Apply(operation, operands.to_vec(), 0);
    let variable = Expression::Variable;
    let cases = [
        (
            Command::Assign(7, Expression::Integer(0)),
            "command 0, an assignment: there is no variable 7; there are 3",
        ),
        (
            Command::Sequence(vec![Command::Stop, Command::Assign(number, variable(text))]),
            "command 2, an assignment: its value is TEXT where INTEGER is needed",
        ),
        (
            Command::Assign(array, Expression::Integer(0)),
            "command 0, an assignment: variable 2 is an array; assign its elements",
        ),
        (
            Command::Assign(number, apply(Operation::Add, &[variable(number)])),
            "command 0, an assignment: Add takes 2 operands, not 1",
        ),
        (
            Command::If(
                apply(Operation::Compare(Comparison::Less, Kind::Word), &[variable(text), variable(text)]),
                Box::new(Command::Stop),
                Box::new(Command::Stop),
            ),
            "command 0, an IF: TEXT is compared as a number; each kind has comparisons of its own",
        ),
        (Command::Call(test), "command 0, a call: call 0 is a test; use it in an expression"),
        (Command::Call(5), "command 0, a call: there is no call 5; there are 1"),
    ];
    for (command, sentence) in cases {
        assert_eq!(said(command), sentence);
    }
    let mut wrong = program.clone();
    wrong.add_call(Call {
        communication: 0,
        action: Action::Send { message: 0, arguments: vec![array.into()] },
        location: 0,
    });
    assert_eq!(refused(&wrong), "call 1: variable 2 is an array; say which element by an INTEGER variable");
}

#[test]
fn bytecode_is_held_to_the_contract() {
    let said = |text: &str| {
        let mut program = empty(Code::Bytecode(assemble(text).unwrap()));
        program.add_variable(Type::Integer, None, Travels::Out);
        program.add_variable(Type::Text, None, Travels::Out);
        refused(&program)
    };
    assert_eq!(said("mov %r0, 0\nexit"), "");
    for (text, sentence) in [
        ("mov %r1, 0\ncall 0\nexit", "instruction 1, `call 0`: there is no helper 0;"),
        (
            "mov %r1, 1\ncall 10\nexit",
            "instruction 1, `call 10`: %r1 is 1, but length takes a number from 0 to 0",
        ),
        (
            "mov %r1, 0\nmov %r2, 0\ncall 3\nexit",
            "instruction 2, `call 3`: %r1 is 0, but fail takes a number from 1",
        ),
        ("mov %r0, %r5\nexit", "instruction 0"),
        ("mov %r1, 1\nmov %r2, 0\nmov %r3, %r10\nadd %r3, -48\ncall 21\nexit", "instruction 4"),
    ] {
        assert!(said(text).starts_with(sentence), "{text}: {}", said(text));
    }
    // Wild accesses stay in its own memory, and endless loops have a budget.
    for text in ["lddw %r3, 0x123456789abc\nstxdw [%r3+8], %r3\nldxdw %r0, [%r3+0]\nexit", "ja -1\nexit"] {
        let program = empty(Code::Bytecode(assemble(text).unwrap()));
        assert!(take(&program.encode(), &[]), "{text}");
    }
}
