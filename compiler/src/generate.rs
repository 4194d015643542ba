//! The compiler's pipeline: lowers, improves, cuts and emits everything of a program that can run, and its
//! descriptions, into a Cranelift module.

use std::collections::HashMap;

use cranelift_module::{DataId, FuncId, Linkage, Module};
use drystone_language::program::{ComponentId, Program};
use drystone_language::source::SourceFile;

use crate::classify::BodyKey;
use crate::descriptors::{BodyCode, Descriptors, FrameDescription};
use crate::emit::{self, Functions, TimeSlices};
use crate::entries;
use crate::invariants;
use crate::lookups;
use crate::lower::{self, Unit};
use crate::marshalling;
use crate::mir::{BlockId, Code, Inst};
use crate::segments::{self, Cut};
use crate::shims;
use crate::signatures::{condition_signature, entry_signature, native_signature, resume_signature};
use crate::verify;
use crate::workbench::Workbench;

/// The code of a program, lowered and cut.
pub(crate) struct Lowered<'a> {
    /// Tables that lowering has filled.
    pub unit: Unit<'a>,
    /// The bodies, in the order of their cuts.
    pub keys: Vec<BodyKey>,
    /// The bodies, then the procedures in the variants that are called.
    pub cuts: Vec<Cut>,
}

impl<'a> Lowered<'a> {
    /// Lowers and cuts a program.
    pub(crate) fn of(program: &'a Program, files: &'a [SourceFile]) -> Lowered<'a> {
        let mut unit = Unit::new(program, files);
        let keys = body_keys(program);
        let mut codes = codes(&mut unit, &keys);
        codes.iter_mut().for_each(lookups::reuse);
        codes.iter_mut().for_each(invariants::hoist);
        verify::codes(&codes, keys.len()).unwrap_or_else(|broken| panic!("{broken}"));
        let cuts: Vec<Cut> = codes.into_iter().map(segments::cut).collect();
        verify::cuts(&cuts).unwrap_or_else(|broken| panic!("{broken}"));
        Lowered { unit, keys, cuts }
    }
}

/// The bodies, then the procedures in the variants that are called.
pub(crate) fn codes(unit: &mut Unit, keys: &[BodyKey]) -> Vec<Code> {
    let mut codes: Vec<Code> = keys.iter().map(|&key| lower::body(unit, key)).collect();
    let mut number = 0;
    while number < unit.variants.len() {
        let variant = unit.variants[number];
        codes.push(lower::procedure(unit, variant));
        number += 1;
    }
    codes
}

/// Generates code and data for a checked program; gives the data object of `drystone_component::Program`.
pub(crate) fn generate<M: Module>(
    module: &mut M,
    program: &Program,
    files: &[SourceFile],
    time_slices: TimeSlices,
) -> DataId {
    let Lowered { mut unit, keys, cuts } = Lowered::of(program, files);
    let ids = declare(module, &cuts);
    let entries = declare_entries(module);
    let mut workbench = Workbench::new(module);
    let marshalling = marshalling::define(module, &mut workbench, &entries, program, &unit.leaving);
    let mut functions = Functions {
        program,
        cuts: &cuts,
        first_variant: keys.len(),
        ids,
        unusual: shims::unusual(module, &mut workbench, &entries),
        finish: shims::last(module, &mut workbench, &entries, &entries::FINISH),
        wait_for_condition: shims::last(module, &mut workbench, &entries, &entries::AWAIT),
        wait_for_lock: shims::last(module, &mut workbench, &entries, &entries::LOCK),
        entries,
        descriptors: Descriptors::new(cuts.iter().map(describe).collect(), marshalling),
        sizes: &unit.facts.sizes,
        natives_make_arrays: cuts.iter().any(|cut| cut.code.native && makes_arrays(&cut.code)),
        time_slices,
    };
    for (number, cut) in cuts.iter().enumerate() {
        if cut.code.native {
            let signature = native_signature(&cut.code);
            let id = functions.ids[&(number, BlockId(0))];
            workbench.define(module, id, signature, |module, builder| {
                emit::native(module, &mut functions, builder, number);
            });
        }
        for (index, segment) in cut.segments.iter().enumerate() {
            let signature = if segment.is_condition { condition_signature() } else { resume_signature() };
            let id = functions.ids[&(number, segment.entry)];
            workbench.define(module, id, signature, |module, builder| {
                emit::segment(module, &mut functions, builder, number, index);
            });
        }
    }
    let enter = shims::enter(module, &mut workbench);
    let native = shims::native(module, &mut workbench, &functions.entries);
    for (index, bodies) in bodies(program, &keys, &functions).iter().enumerate() {
        let id = ComponentId(index as u32);
        let location = unit.locations.number(program.components[index].span);
        functions.descriptors.template(module, program, &unit.layouts, id, bodies, location);
    }
    let points = suspension_points(&functions);
    let entry = program.entry.expect("the checker found the entry");
    functions.descriptors.program(module, program, entry, files, &unit.locations, &points, enter, native)
}

fn makes_arrays(code: &Code) -> bool {
    let mut instructions = code.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(
        |instruction| matches!(instruction, Inst::Call { entry, .. } if entry.name == entries::ARRAY_NEW.name),
    )
}

/// All bodies of a program.
pub(crate) fn body_keys(program: &Program) -> Vec<BodyKey> {
    let mut keys = Vec::new();
    for (index, component) in program.components.iter().enumerate() {
        let id = ComponentId(index as u32);
        if component.begin.is_some() || component.activity.is_some() {
            keys.push(BodyKey::Main(id));
        }
        if component.finally.is_some() {
            keys.push(BodyKey::Finally(id));
        }
        keys.extend((0..component.implementations.len()).map(|number| BodyKey::Service(id, number)));
    }
    keys
}

/// The bodies of each component.
fn bodies(program: &Program, keys: &[BodyKey], functions: &Functions) -> Vec<Vec<BodyCode>> {
    let mut bodies: Vec<Vec<BodyCode>> = program.components.iter().map(|_| Vec::new()).collect();
    for (cut, &key) in keys.iter().enumerate() {
        let (BodyKey::Main(id) | BodyKey::Finally(id) | BodyKey::Service(id, _)) = key;
        let code = &functions.cuts[cut].code;
        let [entry, finally] = [Some(BlockId(0)), code.finally].map(|it| Some(functions.ids[&(cut, it?)]));
        let entry = entry.expect("a body begins somewhere");
        bodies[id.index()].push(BodyCode { key, cut, entry, finally, shape: code.shape });
    }
    bodies
}

fn describe(cut: &Cut) -> FrameDescription {
    FrameDescription {
        name: cut.code.name.clone(),
        size: cut.code.frame_size.next_multiple_of(8),
        owned: cut.code.owned.clone(),
    }
}

fn declare<M: Module>(module: &mut M, cuts: &[Cut]) -> HashMap<(usize, BlockId), FuncId> {
    let mut ids = HashMap::new();
    for (number, cut) in cuts.iter().enumerate() {
        if cut.code.native {
            let name = format!("{}${number}", cut.code.name);
            let signature = native_signature(&cut.code);
            let id = module.declare_function(&name, Linkage::Local, &signature).expect("a fresh name");
            ids.insert((number, BlockId(0)), id);
        }
        for segment in &cut.segments {
            let name = format!("{}${number}.{}", cut.code.name, segment.entry.0);
            let signature = if segment.is_condition { condition_signature() } else { resume_signature() };
            let id = module.declare_function(&name, Linkage::Local, &signature).expect("a fresh name");
            ids.insert((number, segment.entry), id);
        }
    }
    ids
}

fn declare_entries<M: Module>(module: &mut M) -> HashMap<&'static str, FuncId> {
    entries::ALL
        .iter()
        .map(|entry| {
            let signature = entry_signature(entry);
            let id = module.declare_function(entry.name, Linkage::Import, &signature).expect("declared once");
            (entry.name, id)
        })
        .collect()
}

/// For each function at which a process may wait, the location of its suspension point.
fn suspension_points(functions: &Functions) -> Vec<(FuncId, u32)> {
    let mut points = Vec::new();
    for (number, cut) in functions.cuts.iter().enumerate() {
        for segment in &cut.segments {
            let block = cut.code.block(segment.entry);
            if let Some(point) = &block.suspension {
                // Where it tests its condition itself, it goes on with that.
                let resumed = block.tested_again().unwrap_or(segment.entry);
                points.push((functions.ids[&(number, resumed)], point.location));
            }
        }
    }
    points
}
