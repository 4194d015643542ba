//! rbpf, which runs programs without looking at what they access.

use rbpf::EbpfVmRaw;
use rbpf::assembler::assemble;

use crate::common::{Outcome, Run, Work};
use crate::text::text;

fn null(_: u64, _: u64, size: u64, _: u64, _: u64) -> u64 {
    size
}

/// The program finds the number of rounds in its memory. It lives as long as this process, as machines here want it.
fn machine(work: Work) -> Outcome<EbpfVmRaw<'static>> {
    thread_local!(static PROGRAMS: [&'static [u8]; 2] = [Work::Copy, Work::Instructions].map(|work| {
        let text = format!("ldxdw r7, [r1]\n{}", text(work, "call 0", "call 1"));
        &*assemble(&text).expect("it can be read").leak()
    }));
    let program = PROGRAMS.with(|programs| programs[work as usize]);
    let mut machine = EbpfVmRaw::new(Some(program))?;
    machine.register_helper(0, null)?;
    machine.register_helper(1, null)?;
    Ok(machine)
}

pub fn interpreter(work: Work) -> Outcome<Run> {
    let machine = machine(work)?;
    Ok(Box::new(move |rounds| Ok(machine.execute_program(&mut rounds.to_le_bytes())?)))
}

pub fn compiled(work: Work) -> Outcome<Run> {
    let mut machine = machine(work)?;
    machine.jit_compile()?;
    // SAFETY: the program reads eight bytes of its memory, which are there.
    Ok(Box::new(move |rounds| Ok(unsafe { machine.execute_program_jit(&mut rounds.to_le_bytes())? })))
}
