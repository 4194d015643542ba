//! Modules built by hand: shapes that C compilers don't produce, and refusals.

use crate::{NativeError, load};
use drystone_specialise::ir::*;
use std::rc::Rc;

fn value(number: u32) -> Operand {
    Operand::Value(ValueId(number))
}

fn int(bits: u32, number: u128) -> Operand {
    Operand::Const(Const::int(bits, number))
}

/// A body with one block; each operation gives the value after the last.
fn straight(params: &[Type], operations: Vec<(Type, Op)>, terminator: Terminator) -> Body {
    let mut types = params.to_vec();
    let instructions = operations
        .into_iter()
        .map(|(ty, op)| {
            let result = (ty != Type::Void).then(|| {
                types.push(ty.clone());
                ValueId(types.len() as u32 - 1)
            });
            Instruction { result, ty, op, place: None }
        })
        .collect();
    let block = Block { instructions, terminator, place: None, comment: String::new() };
    Body { blocks: vec![block], types, names: Vec::new() }
}

fn function(name: &str, result: Type, params: &[Type], body: Option<Body>) -> Function {
    let params =
        params.iter().map(|ty| Param { ty: ty.clone(), name: None, attributes: ParamAttributes::default() });
    Function {
        name: name.into(),
        params: params.collect(),
        result,
        result_extension: None,
        variadic: false,
        internal: false,
        memory: Effects::Any,
        noreturn: false,
        code: body.map_or(Code::Declared, |body| Code::Body(Rc::new(body))),
        comment: String::new(),
    }
}

fn module(functions: Vec<Function>) -> Module {
    Module { functions, ..Module::default() }
}

/// Makes `f(a, b)` of one operation of so many bits, and runs it.
fn run(bits: u32, op: Op, result: Type, a: u64, b: u64) -> u64 {
    let narrow = Type::Int(bits);
    let body = straight(
        &[Type::WORD, Type::WORD],
        vec![
            (narrow.clone(), Op::Cast(if bits < 64 { Cast::Trunc } else { Cast::BitCast }, value(0))),
            (narrow, Op::Cast(if bits < 64 { Cast::Trunc } else { Cast::BitCast }, value(1))),
            (result.clone(), op),
            (Type::WORD, Op::Cast(if result == Type::WORD { Cast::BitCast } else { Cast::ZExt }, value(4))),
        ],
        Terminator::Return(Some(value(5))),
    );
    let native =
        load(&module(vec![function("f", Type::WORD, &[Type::WORD; 2], Some(body))]), &|_| None).unwrap();
    let address = native.function("f").expect("it is defined");
    // SAFETY: the function was just made with this signature, and `native` lives.
    let f: extern "C" fn(u64, u64) -> u64 = unsafe { std::mem::transmute(address) };
    f(a, b)
}

fn sign_extended(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

#[test]
fn integers_of_odd_widths_are_cut_to_them() {
    for bits in [1, 3, 7, 12, 24, 33, 48, 63, 8, 16, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        for (a, b) in [(0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211), (u64::MAX, 1), (1 << (bits - 1), 3)] {
            let (x, y) = (a & mask, b & mask);
            let (sx, sy) = (sign_extended(x, bits), sign_extended(y, bits));
            let expected = [
                (Binary::Add, x.wrapping_add(y)),
                (Binary::Sub, x.wrapping_sub(y)),
                (Binary::Mul, x.wrapping_mul(y)),
                (Binary::UDiv, x / y),
                (Binary::URem, x % y),
                (Binary::SDiv, sx.wrapping_div(sy) as u64),
                (Binary::SRem, sx.wrapping_rem(sy) as u64),
                (Binary::Xor, x ^ y),
            ];
            for (operation, expected) in expected {
                let overflows = sx == sign_extended(1 << (bits - 1), bits) && sy == -1;
                if overflows && matches!(operation, Binary::SDiv | Binary::SRem) {
                    continue;
                }
                let op = Op::Binary(operation, value(2), value(3));
                assert_eq!(
                    run(bits, op, Type::Int(bits), a, b),
                    expected & mask,
                    "{operation:?} i{bits} {a:x} {b:x}"
                );
            }
            let less = Op::Compare(Compare::Slt, value(2), value(3));
            assert_eq!(run(bits, less, Type::Int(1), a, b), u64::from(sx < sy), "slt i{bits} {a:x} {b:x}");
            let by = u128::from(bits - 1);
            let shifted = Op::Binary(Binary::AShr, value(2), int(bits, by));
            assert_eq!(
                run(bits, shifted, Type::Int(bits), a, b),
                (sx >> by) as u64 & mask,
                "ashr i{bits} {a:x}"
            );
        }
    }
}

fn refusal(functions: Vec<Function>) -> NativeError {
    load(&module(functions), &|_| None).expect_err("it can't be compiled")
}

#[test]
fn what_cant_be_compiled_is_refused_with_its_place() {
    let pair = Type::Vector(2, Rc::new(Type::Int(32)));
    let body = straight(
        &[Type::Ptr],
        vec![(pair, Op::Load { from: value(0), align: 8, access: Access::Plain })],
        Terminator::Return(None),
    );
    let error = refusal(vec![function("add", Type::Void, &[Type::Ptr], Some(body))]).to_string();
    assert!(
        error.contains("`add`") && error.contains("instruction 0") && error.contains("`load`"),
        "{error}"
    );
    assert!(error.contains("-fno-vectorize"), "{error}");

    let room = Op::Alloca { size: 1, count: value(0), align: 1 };
    let body = straight(&[Type::WORD], vec![(Type::Ptr, room)], Terminator::Return(None));
    let error = refusal(vec![function("f", Type::Void, &[Type::WORD], Some(body))]).to_string();
    assert!(error.contains("`alloca`") && error.contains("fixed size"), "{error}");

    let call = Op::Call {
        callee: Operand::Const(Const::Function(FunctionId(1))),
        args: Vec::new(),
        variadic: None,
        attributes: Rc::default(),
    };
    let body = straight(&[], vec![(Type::Void, call)], Terminator::Return(None));
    let error = refusal(vec![
        function("f", Type::Void, &[], Some(body)),
        function("nobody_has_this_function", Type::Void, &[], None),
    ]);
    assert!(error.to_string().contains("`nobody_has_this_function`"), "{error}");
}

#[test]
fn room_on_the_stack_may_be_had_behind_a_loop() {
    let block =
        |instructions, terminator| Block { instructions, terminator, place: None, comment: String::new() };
    let room = |count| Instruction {
        result: Some(ValueId(1)),
        ty: Type::Ptr,
        op: Op::Alloca { size: 8, count: int(64, count), align: 8 },
        place: None,
    };
    let body = |in_loop: bool| {
        let (inside, behind) = if in_loop { (vec![room(1)], vec![]) } else { (vec![], vec![room(1)]) };
        let blocks = vec![
            block(vec![], Terminator::Jump(BlockId(1))),
            // The way out comes first, so that it stands between the loop's head and its end.
            block(vec![], Terminator::Branch(value(0), BlockId(2), BlockId(3))),
            block(behind, Terminator::Return(None)),
            block(inside, Terminator::Jump(BlockId(1))),
        ];
        Body { blocks, types: vec![Type::Int(1), Type::Ptr], names: Vec::new() }
    };
    let f = |in_loop| function("f", Type::Void, &[Type::Int(1)], Some(body(in_loop)));
    load(&module(vec![f(false)]), &|_| None).unwrap();
    let error = refusal(vec![f(true)]).to_string();
    assert!(error.contains("in a loop"), "{error}");
}

#[test]
fn what_is_wrong_is_an_error_and_no_panic() {
    let wrong = [
        straight(&[], Vec::new(), Terminator::Jump(BlockId(7))),
        straight(&[], Vec::new(), Terminator::Jump(BlockId(0))),
        straight(&[], Vec::new(), Terminator::Return(Some(value(9)))),
        straight(&[], Vec::new(), Terminator::Return(Some(int(32, 1)))),
        straight(
            &[],
            vec![(Type::WORD, Op::Binary(Binary::Add, value(0), int(64, 1)))],
            Terminator::Return(None),
        ),
        straight(
            &[],
            vec![(Type::WORD, Op::Binary(Binary::Add, int(32, 0), int(64, 1)))],
            Terminator::Return(None),
        ),
        straight(
            &[],
            vec![(Type::WORD, Op::Freeze(Operand::Const(Const::Global(GlobalId(3), 0))))],
            Terminator::Return(None),
        ),
        straight(&[], vec![(Type::Int(77), Op::Freeze(int(77, 1)))], Terminator::Return(None)),
        Body::default(),
    ];
    for body in wrong {
        refusal(vec![function("f", Type::Void, &[], Some(body))]);
    }
}

#[test]
fn variables_hold_addresses_of_each_other() {
    let global = |name: &str, ty: Type, initial: Const| Global {
        name: name.into(),
        ty,
        initial: Some(initial),
        constant: true,
        internal: false,
        thread_local: false,
        align: 8,
    };
    let fields: Rc<[Type]> = Rc::new([Type::Int(8), Type::Ptr]);
    let ty = Type::Struct { fields, packed: false };
    let parts: Rc<[Const]> = Rc::new([Const::int(8, 7), Const::Global(GlobalId(1), 2)]);
    let text: Rc<[u8]> = Rc::new(*b"abcd");
    let module = Module {
        globals: vec![
            global("pair", ty.clone(), Const::Aggregate(ty, parts)),
            global("text", Const::Bytes(text.clone()).ty(), Const::Bytes(text)),
        ],
        ..Module::default()
    };
    let native = load(&module, &|_| None).unwrap();
    let pair = native.global("pair").expect("it is defined").cast::<(u64, *const u8)>();
    // SAFETY: the variable has a byte and a pointer at offset 8, and `native` lives.
    let (first, pointer) = unsafe { (pair.cast::<u8>().read(), pair.cast::<*const u8>().add(1).read()) };
    assert_eq!(first, 7);
    // SAFETY: it leads to the third byte of the other variable.
    assert_eq!(unsafe { pointer.read() }, b'c');
}
