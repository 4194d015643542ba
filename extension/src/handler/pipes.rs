//! Pipes that handlers have in their files: what they do to the data of a message on its way into the region, or where
//! it is. In C it is a function of a word (`PIPE` in handler.h). On Linux that stands in a loop; here its bytecode
//! becomes a pass (paper 003, section II-B).
//!
//! `unsafe` here: passes are run where data lies, and registers are had by their address. That is sound because who
//! calls [`Through::run`] has both.

use alloc::vec::Vec;
use alloc::{format, string::String};
use core::cell::RefCell;

use crate::bytecode::{self, Object, Program, Slot};
use crate::pipe::{Fault, Gauge, Handle, MOST_REGISTERS, Mode, Pass, Pipe, Pipes, Registers};

/// More of them a handler can't have.
pub(super) const MOST: usize = 8;
/// What functions are called that take data through a pipe, before its name: into the region, and where it lies.
const INTO: &str = "drystone_pipe_into_";
const OVER: &str = "drystone_pipe_over_";

/// A pipe as a file has it, with where it writes to.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    name: String,
    pub is_over: bool,
    gauge: Gauge,
    pub registers: usize,
    slots: Vec<Slot>,
}

/// The number of the pipe that such a function calls, among those that are named so far.
pub(super) fn number(function: &str, named: &RefCell<Vec<String>>) -> Option<usize> {
    if !function.starts_with(INTO) && !function.starts_with(OVER) {
        return None;
    }
    let mut named = named.borrow_mut();
    let number = named.iter().position(|it| it == function).unwrap_or(named.len());
    if number == named.len() {
        named.push(function.into());
    }
    Some(number)
}

impl Definition {
    /// Looks for the pipes that functions are named after.
    pub fn all(files: &[&[u8]], functions: &[String]) -> Result<Vec<Definition>, String> {
        if functions.len() > MOST {
            return Err(format!("it takes data through {} pipes: there may be {MOST}", functions.len()));
        }
        functions.iter().map(|function| Definition::find(files, function)).collect()
    }

    fn find(files: &[&[u8]], function: &str) -> Result<Definition, String> {
        let is_over = function.starts_with(OVER);
        let name = function.strip_prefix(if is_over { OVER } else { INTO }).unwrap_or_default();
        let named = |why: String| format!("pipe `{name}`: {why}");
        let Object { slots, maps, .. } = bytecode::link(files, Some(name), &|_| None).map_err(named)?;
        if let Some(map) = maps.first() {
            return Err(named(format!(
                "it uses `{}`: a pipe has its word and its registers alone",
                map.name
            )));
        }
        // As `PIPE` in handler.h has it.
        let terms = bytecode::constant(files, &format!("{name}_pipe")).map_err(named)?;
        let (bits, registers) = match terms.as_chunks().0 {
            &[bits, registers] => (u32::from_le_bytes(bits), u32::from_le_bytes(registers) as usize),
            _ => return Err(named("what it takes isn't said as `PIPE` does".into())),
        };
        let gauge = Gauge::ALL.into_iter().find(|it| it.bits() == bits);
        let gauge = gauge.ok_or_else(|| named(format!("a word of {bits} bits")))?;
        if registers > MOST_REGISTERS {
            return Err(named(format!("{registers} registers: there may be {MOST_REGISTERS}")));
        }
        Ok(Definition { name: name.into(), is_over, gauge, registers, slots })
    }
}

/// A pipe that is ready to run.
#[derive(Debug)]
pub(super) struct Through {
    /// Whether it writes where the data lies.
    pub is_over: bool,
    /// Those with narrower registers first.
    passes: Vec<(Pass, Registers, Handle)>,
    registers: usize,
}

impl Through {
    pub fn new(pipe: &Definition, interpreted: bool) -> Result<Through, String> {
        let program =
            Program::decode(&pipe.slots).map_err(|error| format!("pipe `{}`: {}", pipe.name, error.what))?;
        let made = Pipe::of_function(&pipe.name, pipe.gauge, pipe.registers, program);
        let mut passes = Vec::new();
        for made in made.map_err(|refusal| format!("pipe {refusal}"))? {
            let mode = if pipe.is_over && !made.modifies() { Mode::Read } else { Mode::Write };
            let mut list = Pipes::new();
            let handle = list.add(made);
            let pass = pass(&list, mode, interpreted)
                .map_err(|refusal| format!("pipe `{}`: {refusal}", pipe.name))?;
            let registers = pass.registers();
            passes.push((pass, registers, handle));
        }
        Ok(Through { is_over: pipe.is_over, passes, registers: pipe.registers })
    }

    /// Takes data through the pipe, whose registers begin as they are kept, and are kept then.
    ///
    /// # Safety
    /// There are so many bytes in both places, which are apart or the same, and as many registers as the pipe has.
    pub unsafe fn run(&mut self, from: *const u8, to: *mut u8, bytes: usize, kept: *mut u64) {
        for (pass, registers, handle) in &mut self.passes {
            // SAFETY: there are so many.
            let import = |it| registers.import(handle.number(it), unsafe { kept.add(it).read_unaligned() });
            if (0..self.registers).try_for_each(import) == Err(Fault::Wide) {
                continue;
            }
            // SAFETY: as above.
            unsafe { pass.run_at(from, to, bytes, registers) };
            for it in 0..self.registers {
                let value = registers.export(handle.number(it)).unwrap_or_default();
                // SAFETY: there are so many.
                unsafe { kept.add(it).write_unaligned(value) };
            }
            return;
        }
    }
}

#[cfg(all(unix, target_arch = "x86_64"))]
fn pass(list: &Pipes, mode: Mode, interpreted: bool) -> Result<Pass, crate::pipe::Refusal> {
    if interpreted { list.evaluated(mode) } else { list.compile(mode) }
}

#[cfg(not(all(unix, target_arch = "x86_64")))]
fn pass(list: &Pipes, mode: Mode, _: bool) -> Result<Pass, crate::pipe::Refusal> {
    list.evaluated(mode)
}
