//! Solana's engines, which translate each address and count each instruction.

use std::ptr::NonNull;
use std::sync::Arc;

use solana_sbpf::declare_builtin_function;
use solana_sbpf::elf::Executable;
use solana_sbpf::memory_region::MemoryMapping;
use solana_sbpf::program::{BuiltinProgram, FunctionRegistry, SBPFVersion};
use solana_sbpf::verifier::RequisiteVerifier;
use solana_sbpf::vm::{CallFrame, Config, ContextObject, EbpfVm, ExecutionMode};

use crate::common::{Outcome, Run, Work};
use crate::text::text;

struct Host {
    mapping: MemoryMapping,
    left: u64,
}

impl ContextObject for Host {
    fn consume(&mut self, amount: u64) {
        self.left = self.left.saturating_sub(amount);
    }

    fn get_remaining(&self) -> u64 {
        self.left
    }

    fn active_mapping_ptr(&mut self) -> NonNull<MemoryMapping> {
        NonNull::from_mut(&mut self.mapping)
    }
}

declare_builtin_function!(
    /// Does nothing.
    Null,
    fn rust(
        _host: &mut Host,
        _a: u64,
        _b: u64,
        size: u64,
        _d: u64,
        _e: u64,
    ) -> Result<u64, Box<dyn std::error::Error>> {
        Ok(size)
    }
);

fn executable(work: Work) -> Outcome<Arc<Executable<Host>>> {
    thread_local!(static READ: (Arc<BuiltinProgram<Host>>, [Vec<u8>; 2]) = {
        let config = Config { enabled_sbpf_versions: SBPFVersion::V0..=SBPFVersion::V0, ..Config::default() };
        let mut host = BuiltinProgram::new_loader(config);
        for name in ["null_read", "null_write"] {
            host.register_definition::<Null>(name).expect("the name is new");
        }
        let host = Arc::new(host);
        let bytes = [Work::Copy, Work::Instructions].map(|work| {
            let text = text(work, "syscall null_read", "syscall null_write");
            let text = text.replace("mov r", "mov64 r").replace("add r", "add64 r").replace("mul r", "mul64 r");
            let read = solana_sbpf::assembler::assemble::<Host>(&text, host.clone()).expect("it can be read");
            read.get_text_bytes().1.to_vec()
        });
        (host, bytes)
    });
    READ.with(|(host, bytes)| {
        let bytes = &bytes[work as usize];
        let executable =
            Executable::from_text_bytes(bytes, host.clone(), SBPFVersion::V0, FunctionRegistry::default())?;
        executable.verify::<RequisiteVerifier>()?;
        Ok(Arc::new(executable))
    })
}

fn run(executable: &Executable<Host>, mut mode: ExecutionMode, rounds: u64) -> Outcome<u64> {
    let loader = executable.get_loader();
    let config = loader.get_config();
    // SAFETY: there are no regions, so the program can't access anything.
    let mapping = unsafe { MemoryMapping::new(Vec::new(), config, executable.get_sbpf_version())? };
    let mut host = Host { mapping, left: u64::MAX / 2 };
    let mut machine =
        EbpfVm::new(loader.clone(), executable.get_sbpf_version(), &mut host, config.stack_size());
    machine.registers[7] = rounds;
    let mut frames = vec![CallFrame::default(); config.max_call_depth];
    let (_, result) = machine.execute_program(executable, &mut mode, &mut frames);
    Result::from(result).map_err(|error| format!("{error:?}").into())
}

pub fn interpreter(work: Work) -> Outcome<Run> {
    let executable = executable(work)?;
    Ok(Box::new(move |rounds| run(&executable, ExecutionMode::Interpreted, rounds)))
}

pub fn compiled(work: Work) -> Outcome<Run> {
    let executable = executable(work)?;
    executable.jit_compile()?;
    Ok(Box::new(move |rounds| run(&executable, ExecutionMode::Jit, rounds)))
}
