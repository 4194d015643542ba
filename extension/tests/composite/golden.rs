//! The encoding of programs, as in `docs/src/composite.md`: clients in other languages rely on it.

use drystone_component::{Fingerprint, Type};
use drystone_extension::bytecode;
use drystone_extension::composite::*;

/// `WHILE c?Next DO c?Next(x); sum := sum + x END`
fn program() -> Program {
    let mut program = Program {
        communications: vec![Fingerprint([0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607])],
        variables: Vec::new(),
        calls: Vec::new(),
        code: Code::Tree(Command::Sequence(Vec::new())),
    };
    let x = program.add_variable(Type::Integer, None, Travels::Not(Value::Integer(0)));
    let sum = program.add_variable(Type::Integer, None, Travels::Both);
    let call = |action| Call { communication: 0, action, location: 17 };
    let test = program.add_call(call(Action::Test(Pattern::Message(1))));
    let next = program.add_call(call(Action::Receive { message: 1, results: vec![x.into()] }));
    let operands = vec![Expression::Variable(sum), Expression::Variable(x)];
    let add = Command::Assign(sum, Expression::Apply(Operation::Add, operands, 18));
    let body = Command::Sequence(vec![Command::Call(next), add]);
    program.add_command(Command::While(Expression::Test(test), Box::new(body))).unwrap();
    program
}

const BYTES: &str = "
    436f6d70 00000001
    00000001 00010203 04050607 08090a0b 0c0d0e0f
    00000002
        00000002 00000000 00000000 00000000 00000000
        00000002 00000000 00000003
    00000002
        00000000 00000011 00000002 00000001
        00000000 00000011 00000001 00000001 00000001 00000000 ffffffff
    00000000
        00000000 00000001
            00000004 00000008 00000000
                00000000 00000002
                    00000007 00000001
                    00000001 00000001 00000007 00000004 00000012 00000005 00000001 00000005 00000000
";

const CODE: &str = "
    mov %r9, %r1
    ja32 at13
at2:
    mov %r1, 1
    call 0
at4:
    ldxdw %r0, [%r9+8]
    ldxdw %r1, [%r9+0]
    mov %r2, %r0
    add %r0, %r1
    xor %r2, %r0
    xor %r1, %r0
    and %r2, %r1
    jslt %r2, 0, at18
    stxdw [%r9+8], %r0
at13:
    mov %r1, 0
    call 0
    jne %r0, 0, at2
    mov %r0, 0
    exit
at18:
    mov %r1, 1
    mov32 %r2, 18
    call 3
    ja32 at4
";

#[test]
fn bytes_are_as_the_book_says() {
    let mut words = String::new();
    for chunk in program().encode().chunks(4) {
        chunk.iter().for_each(|byte| words += &format!("{byte:02x}"));
    }
    let expected: String = BYTES.split_whitespace().collect();
    assert_eq!(words, expected);
    let hash = program().hash().to_string();
    assert_eq!(hash, "048cacf04b4fb104aa08ab9587d2de7c0ba12af13c32b9b206760482cec1f317");
}

#[test]
fn code_is_as_it_was() {
    let compiled = program().compile(&Limits::default()).unwrap();
    let Code::Bytecode(slots) = &compiled.code else { panic!("a tree was compiled") };
    let text = bytecode::disassemble(&bytecode::Program::decode(slots).unwrap());
    assert_eq!(text, CODE[1..]);
}
