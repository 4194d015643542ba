//! The pipes of handlers, which process the data of a message on its way into the region, or in place. In C a pipe is a
//! function of a word (`PIPE` in handler.h). On Linux it is called in a loop; here its bytecode is compiled to a
//! [`Pass`] (*ASHs*, section II-B).
//!
//! `unsafe` here: data and registers are passed by address, because the region may be shared with an application.

use alloc::vec::Vec;
use alloc::{format, string::String};
use core::cell::RefCell;

use crate::bytecode::{self, Object, Program, Slot};
use crate::pipe::{Fault, Gauge, Handle, MOST_REGISTERS, Mode, Pass, Pipe, Pipes, Registers};

/// The most pipes that a handler can have.
pub(super) const MOST: usize = 8;
/// The prefixes of functions that take data through a pipe: into the region, and in place.
const INTO: &str = "drystone_pipe_into_";
const OVER: &str = "drystone_pipe_over_";

/// A pipe as it is in the object file, with where it writes to.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    name: String,
    pub is_over: bool,
    gauge: Gauge,
    pub registers: usize,
    slots: Vec<Slot>,
}

/// The number of the pipe that a function calls, if it is named so. A function that isn't in `named` is added.
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
    /// Finds the pipes that these functions call.
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
            _ => return Err(named("it isn't declared by `PIPE`".into())),
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
    /// Whether it works in place.
    pub is_over: bool,
    /// The same pipe compiled for different widths of registers, the narrowest first.
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

    /// Takes data through the pipe. Its registers are loaded from `kept`, and stored there in the end.
    ///
    /// # Safety
    /// `bytes` bytes can be read at `from` and written at `to`, which are apart or the same. `kept` points to as many
    /// numbers as the pipe has registers.
    pub unsafe fn run(&mut self, from: *const u8, to: *mut u8, bytes: usize, kept: *mut u64) {
        for (pass, registers, handle) in &mut self.passes {
            // SAFETY: `kept` has as many numbers as the pipe has registers.
            let import = |it| registers.import(handle.number(it), unsafe { kept.add(it).read_unaligned() });
            if (0..self.registers).try_for_each(import) == Err(Fault::Wide) {
                continue;
            }
            // SAFETY: so many bytes can be read and written; a handler's lists have no gaps, and keep the length.
            unsafe { pass.run_at(from, to, bytes, registers) };
            for it in 0..self.registers {
                let value = registers.export(handle.number(it)).unwrap_or_default();
                // SAFETY: `kept` has as many numbers as the pipe has registers.
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
