//! Well-formed bodies, broken in one place: the verifier must find each mutation.

use drystone_golden as golden;
use drystone_specialise::ir::{
    BlockId, Body, Code, Const, Function, FunctionId, Instruction, Module, Op, Operand, Terminator, Type,
    ValueId,
};
use drystone_specialise::{parse, passes, verify};
use drystone_tests::random::Random;
use std::path::Path;

/// How often each mutation is tried on each body.
const TRIES: u64 = 8;

/// Breaks a body of a function of a module at a random point, if there is one to break in this way.
type Mutation = fn(&mut Body, &Function, &Module, &mut Random) -> Option<()>;

/// The mutations, by what is wrong after each.
const MUTATIONS: [(&str, Mutation); 22] = [
    ("an instruction stands behind a use of its result", moved_behind_its_use),
    ("an instruction uses its own result", uses_itself),
    ("the definition of a used value is gone", undefined),
    ("a value has two definitions", defined_twice),
    ("a value has another type than its definition", of_another_type),
    ("a result has no name", nameless),
    ("an operand is a value that does not exist", beyond_all_values),
    ("an operand is of another type", operand_of_another_type),
    ("a phi lacks an input", phi_without_input),
    ("a phi has an input too many", phi_with_another_input),
    ("a phi has an input from another block", phi_from_elsewhere),
    ("a phi stands behind another instruction", phi_not_first),
    ("a phi has an input that is computed in its own block", phi_of_its_own),
    ("the entry is jumped to", jump_to_entry),
    ("a target does not exist", jump_to_nowhere),
    ("a block with phis has one more predecessor", jump_to_phis),
    ("nothing, or something else, is returned", other_return),
    ("a condition is no bit", condition_of_many_bits),
    ("a case is there twice", case_twice),
    ("an intrinsic gets too few arguments", argument_lost),
    ("an alignment is no power of two", crooked),
    ("a parameter is no value", parameter_of_another_type),
];

#[test]
fn each_mutation_is_found() {
    let mut applied = [0; MUTATIONS.len()];
    for module in modules() {
        verify::module(&module).unwrap_or_else(|malformed| panic!("{malformed}"));
        for (at, function) in module.functions.iter().enumerate() {
            let id = FunctionId(at as u32);
            let Ok(Some(body)) = module.body(id) else { continue };
            for ((name, mutate), applied) in MUTATIONS.iter().zip(&mut applied) {
                for seed in 0..TRIES {
                    let mut body = Body::clone(&body);
                    if mutate(&mut body, function, &module, &mut Random::new(seed)).is_none() {
                        continue;
                    }
                    *applied += 1;
                    let found = verify::function(&module, id, &body);
                    assert!(found.is_err(), "{}: {name}, and nothing is said:\n{body:#?}", function.name);
                }
            }
        }
    }
    for ((name, _), applied) in MUTATIONS.iter().zip(applied) {
        assert!(applied > 0, "nothing could be broken so that {name}");
    }
}

#[test]
fn passes_refuse_what_is_broken() {
    let text = "define void @f(i1 %c) {\n  br i1 %c, label %1, label %1\n1:\n  ret void\n}";
    let mut module = parse::read(text, "broken.ll").expect("a module");
    let mut body = Body::clone(&module.body(FunctionId(0)).expect("a body").expect("a body"));
    *body.blocks[0].terminator.operand_mut().expect("a condition") = stranger();
    module.functions[0].code = Code::Body(body.into());
    let polish = std::panic::AssertUnwindSafe(|| passes::polish(&mut module));
    let panic = std::panic::catch_unwind(polish).expect_err("bodies are verified between passes here");
    let said = panic.downcast_ref::<String>().expect("a message");
    assert!(
        said.starts_with("before any pass, the function `f` is not well-formed: the end of block %0"),
        "{said}"
    );
}

/// Modules as they are read, and as passes leave them.
fn modules() -> Vec<Module> {
    let folders = ["ir", "passes", "passes/machine"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name));
    let cases = folders.iter().flat_map(|folder| golden::cases(folder, "ll"));
    let texts: Vec<String> = cases.map(|case| golden::read(&case)).collect();
    let read = |text: &String| parse::read(text, "mutated.ll").expect("a module");
    let polished = |text: &String| {
        let mut module = read(text);
        passes::polish(&mut module);
        module
    };
    texts.iter().map(read).chain(texts.iter().map(polished)).collect()
}

/// The instructions of a body, in blocks that control comes to, of which something holds.
fn places(body: &Body, holds: impl Fn(&Instruction) -> bool) -> Vec<(usize, usize)> {
    let reachable = reachable(body);
    let blocks = body.blocks.iter().enumerate().filter(|(block, _)| reachable[*block]);
    let all =
        blocks.flat_map(|(block, code)| code.instructions.iter().enumerate().map(move |it| (block, it)));
    all.filter(|(_, (_, instruction))| holds(instruction)).map(|(block, (index, _))| (block, index)).collect()
}

fn reachable(body: &Body) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut seen[block], true) {
            open.extend(body.blocks[block].terminator.successors().map(|to| to.0 as usize));
        }
    }
    seen
}

fn pick<'a, T>(random: &mut Random, all: &'a [T]) -> Option<&'a T> {
    if all.is_empty() { None } else { Some(random.pick(all)) }
}

/// A random instruction of which something holds.
fn some<'b>(
    body: &'b mut Body,
    random: &mut Random,
    holds: impl Fn(&Instruction) -> bool,
) -> Option<&'b mut Instruction> {
    let places = places(body, holds);
    let (block, index) = *pick(random, &places)?;
    Some(&mut body.blocks[block].instructions[index])
}

fn is_phi(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Phi(_))
}

fn uses(op: &Op, value: ValueId) -> bool {
    op.operands().any(|operand| *operand == Operand::Value(value))
}

/// A constant of a type that nothing is.
fn stranger() -> Operand {
    Operand::Const(Const::Undef(Type::Struct { fields: [].into(), packed: true }))
}

fn moved_behind_its_use(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let uses_before = |body: &Body, block: usize, index: usize| {
        let code = &body.blocks[block].instructions;
        let result = code[index].result?;
        (index + 1..code.len()).find(|later| uses(&code[*later].op, result))
    };
    let mut places = places(body, |instruction| !is_phi(instruction));
    places.retain(|(block, index)| uses_before(body, *block, *index).is_some());
    let (block, index) = *pick(random, &places)?;
    let behind = uses_before(body, block, index)?;
    let instruction = body.blocks[block].instructions.remove(index);
    body.blocks[block].instructions.insert(behind, instruction);
    Some(())
}

fn uses_itself(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let types = body.types.clone();
    let fits = move |operand: &Operand, ty: &Type| match operand {
        Operand::Value(value) => types[value.0 as usize] == *ty,
        Operand::Const(constant) => constant.ty() == *ty,
    };
    let instruction = some(body, random, |instruction| {
        !is_phi(instruction)
            && instruction.result.is_some()
            && instruction.op.operands().any(|operand| fits(operand, &instruction.ty))
    })?;
    let result = Operand::Value(instruction.result?);
    *instruction.op.operands_mut().find(|operand| fits(operand, &instruction.ty))? = result;
    Some(())
}

fn undefined(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let used: Vec<ValueId> = places(body, |_| true)
        .iter()
        .map(|(block, index)| &body.blocks[*block].instructions[*index])
        .flat_map(|user| user.op.operands().map(move |operand| (user.result, operand)))
        .filter_map(|(user, operand)| match operand {
            Operand::Value(value) if user != Some(*value) => Some(*value),
            _ => None,
        })
        .collect();
    let places = places(body, |instruction| instruction.result.is_some_and(|result| used.contains(&result)));
    let (block, index) = *pick(random, &places)?;
    body.blocks[block].instructions.remove(index);
    Some(())
}

fn defined_twice(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let places = places(body, |instruction| instruction.result.is_some());
    let (block, index) = *pick(random, &places)?;
    let again = body.blocks[block].instructions[index].clone();
    body.blocks[block].instructions.insert(index, again);
    Some(())
}

fn of_another_type(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let result = some(body, random, |instruction| instruction.result.is_some())?.result?;
    body.types[result.0 as usize] = Type::Int(23);
    Some(())
}

fn nameless(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    some(body, random, |instruction| instruction.result.is_some())?.result = None;
    Some(())
}

fn beyond_all_values(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let beyond = Operand::Value(ValueId(body.types.len() as u32));
    *some(body, random, |instruction| instruction.op.operands().next().is_some())?
        .op
        .operands_mut()
        .next()? = beyond;
    Some(())
}

fn operand_of_another_type(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    // Of what is stored, and of a select of two equal strangers, any type is right.
    let instruction = some(body, random, |instruction| {
        !matches!(instruction.op, Op::Store { .. }) && instruction.op.operands().next().is_some()
    })?;
    *instruction.op.operands_mut().next()? = stranger();
    Some(())
}

fn phi<'b>(body: &'b mut Body, random: &mut Random) -> Option<&'b mut Vec<(Operand, BlockId)>> {
    match &mut some(body, random, is_phi)?.op {
        Op::Phi(inputs) => Some(inputs),
        _ => None,
    }
}

fn phi_without_input(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    phi(body, random)?.pop().map(drop)
}

fn phi_with_another_input(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let inputs = phi(body, random)?;
    inputs.push(inputs.first()?.clone());
    Some(())
}

fn phi_from_elsewhere(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let blocks = body.blocks.len();
    let inputs = phi(body, random)?;
    let from = BlockId(random.below(blocks + 1) as u32);
    let input = inputs.first_mut().filter(|(_, was)| *was != from)?;
    input.1 = from;
    Some(())
}

fn phi_not_first(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let follows = |body: &Body, (block, index): &(usize, usize)| {
        body.blocks[*block].instructions.get(index + 1).is_some_and(|next| !is_phi(next))
    };
    let mut places = places(body, is_phi);
    places.retain(|place| follows(body, place));
    let (block, index) = *pick(random, &places)?;
    body.blocks[block].instructions.swap(index, index + 1);
    Some(())
}

fn phi_of_its_own(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    // The input comes from a block that is left before the phi's block is come to for the first time.
    let places = places(body, is_phi);
    let (block, index) = *pick(random, &places)?;
    let instruction = &mut body.blocks[block].instructions[index];
    let result = Operand::Value(instruction.result?);
    let Op::Phi(inputs) = &mut instruction.op else { return None };
    let (input, _) = inputs.iter_mut().find(|(_, from)| from.0 == 0)?;
    *input = result;
    Some(())
}

/// The end of a random block of which something holds.
fn end<'b>(
    body: &'b mut Body,
    random: &mut Random,
    holds: impl Fn(&Terminator) -> bool,
) -> Option<&'b mut Terminator> {
    let ends: Vec<usize> = (0..body.blocks.len()).filter(|at| holds(&body.blocks[*at].terminator)).collect();
    Some(&mut body.blocks[*pick(random, &ends)?].terminator)
}

fn jump(body: &mut Body, random: &mut Random, to: BlockId) -> Option<()> {
    let end = end(body, random, |end| end.successors().next().is_some())?;
    let target = end.successors_mut().next().filter(|was| **was != to)?;
    *target = to;
    Some(())
}

fn jump_to_entry(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    jump(body, random, BlockId(0))
}

fn jump_to_nowhere(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let beyond = BlockId(body.blocks.len() as u32);
    jump(body, random, beyond)
}

fn jump_to_phis(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let choosing: Vec<usize> = (0..body.blocks.len()).filter(|at| body.blocks[*at].phi_count() > 0).collect();
    let to = BlockId(*pick(random, &choosing)? as u32);
    jump(body, random, to)
}

fn other_return(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let end = end(body, random, |end| matches!(end, Terminator::Return(_)))?;
    let some = matches!(end, Terminator::Return(Some(_)));
    *end = Terminator::Return(if some && random.one_in(2) { None } else { Some(stranger()) });
    Some(())
}

fn condition_of_many_bits(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let end = end(body, random, |end| matches!(end, Terminator::Branch(..)))?;
    *end.operand_mut()? = Operand::Const(Const::int(32, 1));
    Some(())
}

fn case_twice(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let end = end(body, random, |end| matches!(end, Terminator::Switch(_, _, cases) if !cases.is_empty()))?;
    let Terminator::Switch(_, _, cases) = end else { return None };
    cases.push(*random.pick(cases));
    Some(())
}

fn argument_lost(body: &mut Body, _: &Function, module: &Module, random: &mut Random) -> Option<()> {
    let is_intrinsic = |instruction: &Instruction| match &instruction.op {
        Op::Call { callee: Operand::Const(Const::Function(id)), args, .. } => {
            module.functions[id.0 as usize].name.starts_with("llvm.") && !args.is_empty()
        }
        _ => false,
    };
    let Op::Call { args, .. } = &mut some(body, random, is_intrinsic)?.op else { return None };
    args.pop().map(drop)
}

fn crooked(body: &mut Body, _: &Function, _: &Module, random: &mut Random) -> Option<()> {
    let is_access = |instruction: &Instruction| {
        matches!(instruction.op, Op::Load { .. } | Op::Store { .. } | Op::Alloca { .. })
    };
    match &mut some(body, random, is_access)?.op {
        Op::Load { align, .. } | Op::Store { align, .. } | Op::Alloca { align, .. } => *align = 6,
        _ => return None,
    }
    Some(())
}

fn parameter_of_another_type(
    body: &mut Body,
    function: &Function,
    _: &Module,
    random: &mut Random,
) -> Option<()> {
    let params: Vec<usize> = (0..function.params.len()).collect();
    body.types[*pick(random, &params)?] = Type::Int(23);
    Some(())
}
