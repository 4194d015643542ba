//! What is made of a program is right; broken at one point, it is refused, and it is told where.

use drystone_language::check::{Options, check};
use drystone_language::source::SourceFile;

use super::{codes, cuts};
use crate::entries;
use crate::generate;
use crate::lower::Unit;
use crate::mir::*;
use crate::segments::{self, Cut};

const PROGRAM: &str = "COMPONENT Main;
  VARIABLE x: INTEGER; r: REAL;
  PROCEDURE Square(x: INTEGER): INTEGER; BEGIN RETURN x * x END Square;
  PROCEDURE Slowly(x: INTEGER): INTEGER;
  VARIABLE t: TEXT; n: INTEGER;
  BEGIN t := \"\"; n := x; WHILE n > 0 DO n := n - 1 END; PASSIVATE(n); RETURN x + n END Slowly;
BEGIN
  x := Square(x); x := Slowly(x); r := REAL(x);
  BEGIN {EXCLUSIVE} AWAIT(x > 1) END
END Main;";

/// The numbers of its pieces, in the order of the calls.
const MAIN: usize = 0;
const SQUARE: usize = 1;
const SLOWLY: usize = 2;

/// What is said of the program's code after a change.
fn of_codes(change: impl FnOnce(&mut Vec<Code>)) -> Option<String> {
    let files = [SourceFile { path: "test.dry".into(), text: PROGRAM.into() }];
    let program = check(&files, Options::default()).expect("a right program");
    let keys = generate::body_keys(&program);
    let mut all = generate::codes(&mut Unit::new(&program, &files), &keys);
    change(&mut all);
    codes(&all, keys.len()).err().map(|broken| broken.to_string())
}

/// What is said of the program after a change of its code and one of what it was cut to.
fn of_cuts(change: impl FnOnce(&mut Vec<Code>), after: impl FnOnce(&mut Vec<Cut>)) -> Option<String> {
    let mut cut = Vec::new();
    let said = of_codes(|codes| {
        change(codes);
        cut = codes.iter().cloned().map(segments::cut).collect();
    });
    assert_eq!(said, None, "found too early");
    after(&mut cut);
    cuts(&cut).err().map(|broken| broken.to_string())
}

#[track_caller]
fn says(said: Option<String>, what: &str) {
    let said = said.unwrap_or_default();
    assert!(said.contains(what), "says {said:?}, not {what:?}");
}

/// The first instruction of a piece that `is` one, to be changed.
fn instruction(code: &mut Code, is: impl Fn(&Inst) -> bool) -> &mut Inst {
    let mut all = code.blocks.iter_mut().flat_map(|block| &mut block.instructions);
    all.find(|instruction| is(instruction)).expect("there is one")
}

/// The first end of a block that `is` one.
fn end(code: &mut Code, is: impl Fn(&Terminator) -> bool) -> &mut Terminator {
    code.blocks.iter_mut().map(|block| &mut block.end).find(|end| is(end)).expect("there is one")
}

fn is_call(end: &Terminator) -> bool {
    matches!(end, Terminator::CallProcedure { .. })
}

fn is_native_call(instruction: &Inst) -> bool {
    matches!(instruction, Inst::CallNative { .. })
}

#[test]
fn nothing_is_needed_where_finally_begins() {
    let said = of_cuts(
        |codes| {
            // A block of a loop, as if FINALLY began there.
            let header = codes[SLOWLY].loops[0].header;
            codes[SLOWLY].finally = Some(header);
        },
        |_| {},
    );
    says(said, "is needed where FINALLY begins");
}

#[test]
fn a_right_program_passes() {
    assert_eq!(of_codes(|_| {}), None);
    assert_eq!(of_cuts(|_| {}, |_| {}), None);
}

#[test]
fn the_location_is_told() {
    let said = of_codes(|codes| codes[SQUARE].blocks[0].instructions.push(Inst::Int(Reg(99), 0)));
    says(said, "Square, b0: there is no r99");
    let said = of_codes(|codes| *instruction(&mut codes[SQUARE], |_| true) = Inst::Real(Reg(0), 0.0));
    says(said, "Square, b0, instruction 0: r0 is not Real");
}

#[test]
fn blocks_lead_somewhere() {
    says(of_codes(|codes| codes[MAIN].blocks[0].end = Terminator::Goto(BlockId(99))), "there is no b99");
    says(of_codes(|codes| codes[MAIN].blocks[0].end = Terminator::Unreachable), "b0, end: it has no end");
    says(of_codes(|codes| codes[MAIN].blocks.clear()), "it has no blocks");
    let elsewhere = of_codes(|codes| {
        let main = &mut codes[MAIN];
        let Terminator::CallProcedure { then, .. } = *end(main, is_call) else { unreachable!() };
        main.blocks[then.0 as usize].entry = false;
    });
    says(elsewhere, "where no segment begins");
}

#[test]
fn every_kind_of_code_ends_in_its_own_way() {
    let is_return = |end: &Terminator| matches!(end, Terminator::Return(Some(_)));
    let is_answer = |end: &Terminator| matches!(end, Terminator::Answer(_));
    let is_finish = |end: &Terminator| matches!(end, Terminator::Finish(_));
    let is_goto = |end: &Terminator| matches!(end, Terminator::Goto(_));
    says(
        of_codes(|codes| *end(&mut codes[SQUARE], is_return) = Terminator::Finish(0)),
        "a procedure finishes",
    );
    says(of_codes(|codes| *end(&mut codes[SQUARE], is_return) = Terminator::Return(None)), "it returns");
    says(of_codes(|codes| *end(&mut codes[MAIN], is_finish) = Terminator::Return(None)), "a body returns");
    says(of_codes(|codes| *end(&mut codes[MAIN], is_finish) = Terminator::Answer(Reg(0))), "no condition");
    says(of_codes(|codes| *end(&mut codes[MAIN], is_answer) = Terminator::Finish(0)), "without an answer");
    says(of_codes(|codes| *end(&mut codes[MAIN], is_goto) = Terminator::Return(None)), "a body returns");
}

#[test]
fn nothing_waits_where_it_cannot() {
    let point = || Some(SuspensionPoint { op: SuspensionOp::Home, location: 0 });
    says(of_codes(|codes| codes[SQUARE].blocks[0].suspension = point()), "waits on the processor's stack");
    let in_condition = of_codes(|codes| {
        let condition = codes[MAIN].blocks.iter().find_map(Block::condition).expect("there is one");
        codes[MAIN].blocks[condition.0 as usize].suspension = point();
    });
    says(in_condition, "a condition waits");
    let between = of_codes(|codes| {
        let wait = Inst::Call { to: None, entry: &entries::PASSIVATE, arguments: vec![Reg(0), Reg(0)] };
        codes[MAIN].blocks[0].instructions.push(wait);
    });
    says(between, "ds_passivate may wait");
    let call = of_codes(|codes| {
        let call = end(&mut codes[MAIN], is_call).clone();
        let next = codes[MAIN].blocks[0].clone();
        codes[SQUARE].blocks.push(Block { end: Terminator::Goto(BlockId(0)), ..next });
        let then = BlockId(codes[SQUARE].blocks.len() as u32 - 1);
        codes[SQUARE].blocks[0].end = match call {
            Terminator::CallProcedure { variant, arguments, outer, location, .. } => {
                Terminator::CallProcedure { variant, arguments, outer, location, then }
            }
            other => other,
        };
    });
    says(call, "from the processor's stack");
}

#[test]
fn operands_have_the_right_types() {
    let condition = of_codes(|codes| {
        codes[MAIN].registers.push(RegType::Real);
        let real = Reg(codes[MAIN].registers.len() as u32 - 1);
        let branch = Terminator::Branch { condition: real, yes: BlockId(1), no: BlockId(1) };
        codes[MAIN].blocks[0].end = branch;
    });
    says(condition, "end: r");
    let conversion = of_codes(|codes| {
        let of = instruction(&mut codes[MAIN], |inst| matches!(inst, Inst::Unary { .. }));
        let Inst::Unary { operator, .. } = of else { unreachable!() };
        *operator = Unary::RealToInt;
    });
    says(conversion, "is not Real");
    let outside = of_codes(|codes| {
        let to = Address { base: Base::Frame, offset: 4096, byte: false };
        codes[SLOWLY].blocks[0].instructions.push(Inst::Store { to, value: Reg(0) });
    });
    says(outside, "4096 lies outside the frame");
}

#[test]
fn whoever_is_called_gets_what_it_takes() {
    let fewer = of_codes(|codes| {
        let Inst::CallNative { arguments, .. } = instruction(&mut codes[MAIN], is_native_call) else {
            unreachable!()
        };
        arguments.clear();
    });
    says(fewer, "Square takes 1 arguments and gets 0");
    let nobody = of_codes(|codes| {
        let Inst::CallNative { variant, .. } = instruction(&mut codes[MAIN], is_native_call) else {
            unreachable!()
        };
        *variant = 7;
    });
    says(nobody, "there is no procedure variant 7");
    let framed = of_codes(|codes| {
        let Inst::CallNative { variant, .. } = instruction(&mut codes[MAIN], is_native_call) else {
            unreachable!()
        };
        *variant = 1;
    });
    says(framed, "Slowly needs a frame");
    let elsewhere = of_codes(|codes| codes[SLOWLY].shape.frame += 8);
    says(elsewhere, "Slowly looks for frames elsewhere");
    let entry = of_codes(|codes| {
        let points = codes[SLOWLY].blocks.iter_mut().filter_map(|block| block.suspension.as_mut());
        let mut calls = points.filter_map(|point| match &mut point.op {
            SuspensionOp::Call { arguments, .. } => Some(arguments),
            _ => None,
        });
        calls.next().expect("PASSIVATE").pop();
    });
    says(entry, "suspension point: ds_passivate takes 2 arguments and gets 1");
    let result = of_codes(|codes| codes[SLOWLY].result = None);
    says(result, "no call before it has a result");
}

#[test]
fn frames_and_loops_fit_together() {
    says(of_codes(|codes| codes[SLOWLY].owned[0].offset = 8), "lies outside its frame");
    let twice = of_codes(|codes| {
        let again = codes[SLOWLY].owned[0].clone();
        codes[SLOWLY].owned.push(again);
    });
    says(twice, "it owns two things at");
    says(of_codes(|codes| codes[SLOWLY].loops[0].header = BlockId(0)), "not the header of loop 0");
    says(of_codes(|codes| codes[SLOWLY].blocks[0].in_loop = Some(3)), "there is no loop 3");
    says(of_codes(|codes| codes[SLOWLY].loops[0].outer = Some(0)), "does not lie in an earlier one");
}

#[test]
fn what_is_read_was_written() {
    let on_the_stack = of_cuts(|codes| _ = codes[SQUARE].blocks[0].instructions.drain(..), |_| {});
    says(on_the_stack, "Square, b0: r");
    let on_one_way = of_cuts(
        |codes| {
            codes[SLOWLY].registers.push(RegType::Int);
            let new = Reg(codes[SLOWLY].registers.len() as u32 - 1);
            let before = codes[SLOWLY].loops[0].header;
            codes[SLOWLY].blocks[before.0 as usize].instructions.insert(0, Inst::Copy { to: new, from: new });
        },
        |_| {},
    );
    says(on_one_way, "is read before it is written");
}

#[test]
fn what_is_needed_later_is_saved() {
    /// Where Slowly waits, and what it needs then.
    fn waiting(cuts: &[Cut]) -> (BlockId, Reg) {
        let cut = &cuts[SLOWLY];
        let waits = |id: &&BlockId| cut.code.block(**id).suspension.is_some() && !cut.live[id].is_empty();
        let entry = *cut.live.keys().filter(waits).min().expect("PASSIVATE");
        (entry, *cut.live[&entry].last().expect("something is live"))
    }
    let forgotten = of_cuts(
        |_| {},
        |cuts| {
            let (entry, _) = waiting(cuts);
            cuts[SLOWLY].live.insert(entry, Vec::new());
        },
    );
    says(forgotten, "is read before it is written");
    let nowhere = of_cuts(
        |_| {},
        |cuts| {
            let (_, reg) = waiting(cuts);
            cuts[SLOWLY].slots.remove(&reg);
        },
    );
    says(nowhere, "is saved nowhere");
    let on_another = of_cuts(
        |_| {},
        |cuts| {
            let (_, reg) = waiting(cuts);
            let owned = cuts[SLOWLY].code.owned[0].offset;
            cuts[SLOWLY].slots.insert(reg, owned);
        },
    );
    says(on_another, "is saved where something else lies");
    let outside = of_cuts(
        |_| {},
        |cuts| {
            let (_, reg) = waiting(cuts);
            cuts[SLOWLY].slots.insert(reg, 4096);
        },
    );
    says(outside, "is saved outside the frame");
    let never_written = of_cuts(
        |_| {},
        |cuts| {
            let (entry, _) = waiting(cuts);
            let unknown = Reg(cuts[SLOWLY].code.registers.len() as u32);
            let slot = cuts[SLOWLY].code.frame_size;
            cuts[SLOWLY].slots.insert(unknown, slot);
            cuts[SLOWLY].code.frame_size += 8;
            cuts[SLOWLY].live.get_mut(&entry).expect("it waits there").push(unknown);
        },
    );
    says(never_written, "is needed in");
}
