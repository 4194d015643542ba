//! From a checked program to native code.
//!
//! `lower` turns each body and procedure into MIR (`mir`): a graph of blocks over virtual registers. `lookups` and
//! `invariants` improve it, `segments` cuts it into one function for each point where a process may be resumed,
//! `verify` checks it, `text` prints it, and `emit` has Cranelift translate it, into memory or into an object file.
//!
//! The compiler knows how the runtime lays out memory, and its entry points; it does not know how the runtime works. A
//! checked program always compiles: there are no errors for the user here.

mod awaited;
mod carried;
mod classify;
mod composites;
mod descriptors;
mod dispatch;
mod effects;
mod emit;
mod entries;
mod fairness;
#[cfg(test)]
mod filetests;
mod generate;
mod invariants;
mod layout;
mod liveness;
mod lookups;
mod lower;
mod marshalling;
mod mir;
mod naming;
mod offset;
mod processor;
mod ranges;
mod reaching;
mod regions;
mod segments;
mod shims;
mod signatures;
mod text;
mod verify;
mod walk;
mod workbench;

pub use carried::{Carried, carried};
pub use emit::TimeSlices;
pub use processor::Processor;

use std::sync::Arc;

use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataDescription, Linkage, Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use drystone_language::program::{ComponentId, Program};
use drystone_language::source::SourceFile;

/// Compiles a program into this process's memory. Code and data stay for as long as the process lives.
pub fn compile(
    program: &Program,
    files: &[SourceFile],
    time_slices: TimeSlices,
) -> &'static drystone_component::Program {
    let mut builder = JITBuilder::with_isa(isa(Processor::Native, false), default_libcall_names());
    for entry in entries::ALL {
        builder.symbol(entry.name, entry.address);
    }
    let mut module = JITModule::new(builder);
    let program = composites::with_interfaces(program);
    let data = generate::generate(&mut module, &program, files, time_slices);
    module.finalize_definitions().expect("every symbol is an entry point of the runtime");
    let (address, _) = module.get_finalized_data(data);
    // The code must outlive every process that runs it: it is never freed.
    std::mem::forget(module);
    // SAFETY: `generate` laid the data object out as a `Program`, aligned to 8, and the module is never freed.
    unsafe { &*address.cast::<drystone_component::Program>() }
}

/// Compiles a program to a relocatable object file. It defines `ds_program`, and `ds_processor`: the features that a
/// processor must have to run it, as a text that ends with a 0.
pub fn compile_object(program: &Program, files: &[SourceFile], processor: Processor) -> Vec<u8> {
    let builder = ObjectBuilder::new(isa(processor, true), "drystone", default_libcall_names())
        .expect("the host has object files");
    let mut module = ObjectModule::new(builder);
    let program = composites::with_interfaces(program);
    generate::generate(&mut module, &program, files, TimeSlices::Kept);
    define_processor(&mut module);
    module.finish().emit().expect("an object file can hold any program")
}

/// A service that can run where its requests arrive (`IMPLEMENTATION {HANDLER}`).
pub struct Handler {
    /// The component that it belongs to.
    pub component: String,
    /// The interface that it implements.
    pub interface: String,
    /// Its instructions, as `extension::composite` makes them of a responder.
    pub code: Vec<u8>,
    /// How many variables of the component it keeps.
    pub kept: usize,
}

/// The handlers of a program.
pub fn handlers(program: &Program) -> Vec<Handler> {
    let mut handlers = Vec::new();
    for (index, component) in program.components.iter().enumerate() {
        let id = ComponentId(index as u32);
        for (number, implementation) in
            component.implementations.iter().enumerate().filter(|(_, it)| it.handler)
        {
            let interface = component.offers[implementation.offered].interface;
            handlers.push(Handler {
                component: component.name.clone(),
                interface: program.interfaces[interface.index()].name.clone(),
                code: composites::responder(program, id, number),
                kept: drystone_language::handlers::kept(program, id).len(),
            });
        }
    }
    handlers
}

/// The MIR of a program, as text.
pub fn mir(program: &Program, files: &[SourceFile]) -> String {
    let program = composites::with_interfaces(program);
    text::print(&generate::Lowered::of(&program, files), files)
}

fn define_processor(module: &mut ObjectModule) {
    let mut text = DataDescription::new();
    text.define((processor::features(module.isa()) + "\0").into_bytes().into_boxed_slice());
    let id = module.declare_data("ds_processor", Linkage::Export, false, false).expect("declared once");
    module.define_data(id, &text).expect("defined once");
}

fn isa(processor: Processor, position_independent: bool) -> Arc<dyn TargetIsa> {
    let mut flags = settings::builder();
    let mut set = |name, value| flags.set(name, value).expect("Cranelift knows the setting");
    set("opt_level", "speed");
    set("is_pic", if position_independent { "true" } else { "false" });
    set("log2_min_function_alignment", "4");
    set("use_colocated_libcalls", "false");
    // Tail calls need them.
    set("preserve_frame_pointers", "true");
    set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" });
    processor.builder().finish(settings::Flags::new(flags)).expect("the settings fit together")
}
