//! From a checked program to native code.
//!
//! Bodies and procedures are lowered to graphs of blocks (`lower`, `mir`), cut into one function for each point
//! where a process may be resumed (`liveness`, `segments`), and translated by Cranelift (`emit`), either into
//! memory or into an object file. This room knows what the runtime looks like in memory, not how it works.

mod classify;
mod descriptors;
mod emit;
mod entries;
mod fairness;
mod generate;
mod layout;
mod liveness;
mod lower;
mod mir;
mod naming;
mod ranges;
mod regions;
mod segments;
mod shims;
mod walk;

use std::sync::Arc;

use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::default_libcall_names;
use cranelift_object::{ObjectBuilder, ObjectModule};
use drystone_language::program::Program;
use drystone_language::source::SourceFile;

/// Whether code looks at the end of its time slice (paper 004, section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSlices {
    /// At loops and procedure entries, as it must.
    #[default]
    Kept,
    /// Never, to measure what that costs.
    LeftOut,
}

/// Compiles a program into this process's memory. Code and data stay for as long as the process lives.
pub fn compile(
    program: &Program,
    files: &[SourceFile],
    time_slices: TimeSlices,
) -> &'static drystone_component::Program {
    let mut builder = JITBuilder::with_isa(isa(false), default_libcall_names());
    for &(name, address) in drystone_runtime::entry_points::entry_points() {
        builder.symbol(name, address);
    }
    let mut module = JITModule::new(builder);
    let data = generate::generate(&mut module, program, files, time_slices);
    module.finalize_definitions().expect("every symbol is an entry point of the runtime");
    let (address, _) = module.get_finalized_data(data);
    // The code must outlive every process that runs it: it is never freed.
    std::mem::forget(module);
    // SAFETY: the data object was laid out as a `Program`, aligned to 8, and lives for ever.
    unsafe { &*address.cast::<drystone_component::Program>() }
}

/// Compiles a program to a relocatable object file, which defines `ds_program`.
pub fn compile_object(program: &Program, files: &[SourceFile]) -> Vec<u8> {
    let builder = ObjectBuilder::new(isa(true), "drystone", default_libcall_names())
        .expect("the host has object files");
    let mut module = ObjectModule::new(builder);
    generate::generate(&mut module, program, files, TimeSlices::Kept);
    module.finish().emit().expect("an object file can hold any program")
}

fn isa(position_independent: bool) -> Arc<dyn TargetIsa> {
    let mut flags = settings::builder();
    let mut set = |name, value| flags.set(name, value).expect("Cranelift knows the setting");
    set("opt_level", "speed");
    set("is_pic", if position_independent { "true" } else { "false" });
    // Bit 0 of a condition's address has a meaning of its own.
    set("log2_min_function_alignment", "4");
    set("use_colocated_libcalls", "false");
    // Tail calls need them.
    set("preserve_frame_pointers", "true");
    set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" });
    let builder = cranelift_native::builder().expect("Drystone runs on x86-64");
    builder.finish(settings::Flags::new(flags)).expect("the settings fit together")
}
