//! Emits the read-only descriptions of a program that the runtime reads: the structures of `drystone_component`, as
//! data objects.

mod blob;
mod interfaces;
mod procedures;
mod templates;

use std::collections::HashMap;
use std::mem::{offset_of, size_of};

use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module};
use drystone_component as model;
use drystone_language::program::{
    self as checked, AnyType, ComponentId, InterfaceId, Program, Type, VariableId,
};
use drystone_language::source::SourceFile;

use self::blob::Blob;
pub(crate) use self::interfaces::model_type;
use crate::awaited::Dependence;
use crate::classify::BodyKey;
use crate::layout::kind_of;
use crate::lower::Locations;
use crate::marshalling::Marshalling;
use crate::mir::{BlockId, OwnedSlot, Symbol};

/// Indices that an array may have; the checker allows no more.
const MOST_INDICES: usize = 64;

/// The data objects of a program, each defined once.
#[derive(Default)]
pub(crate) struct Descriptors {
    symbols: HashMap<String, DataId>,
    strings: HashMap<Vec<u8>, DataId>,
    /// Procedures that crates carry, as far as they are called.
    procedures: Vec<DataId>,
    count: usize,
    /// The frame of each cut.
    frames: Vec<FrameDescription>,
    marshalling: Marshalling,
}

/// The frame of a body or procedure.
pub(crate) struct FrameDescription {
    /// The procedure or body.
    pub name: String,
    /// Bytes of the frame (with what comes before it in a process block).
    pub size: u32,
    /// What it owns.
    pub owned: Vec<OwnedSlot>,
}

/// Where the code of a template's bodies begins.
pub(crate) struct BodyCode {
    /// Which body.
    pub key: BodyKey,
    /// Index of its cut.
    pub cut: usize,
    /// Its entry.
    pub entry: FuncId,
    /// Where its FINALLY begins.
    pub finally: Option<FuncId>,
    /// Its offsets.
    pub shape: crate::mir::Shape,
}

/// What may be done with a data object while the program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Descriptors {
    /// No data objects yet.
    pub(crate) fn new(frames: Vec<FrameDescription>, marshalling: Marshalling) -> Self {
        Descriptors { frames, marshalling, ..Descriptors::default() }
    }

    fn define(&mut self, module: &mut impl Module, blob: Blob) -> DataId {
        let id = self.declare(module, Access::Read);
        self.fill(module, id, blob);
        id
    }

    /// A data object that is defined later.
    fn declare(&mut self, module: &mut impl Module, access: Access) -> DataId {
        let name = format!("ds_data_{}", self.count);
        self.count += 1;
        let writable = access == Access::Write;
        module.declare_data(&name, Linkage::Local, writable, false).expect("a fresh name")
    }

    fn fill(&mut self, module: &mut impl Module, id: DataId, blob: Blob) {
        let mut description = DataDescription::new();
        description.set_align(8);
        description.define(blob.bytes.into_boxed_slice());
        for (offset, target, addend) in blob.data {
            let global = module.declare_data_in_data(target, &mut description);
            description.write_data_addr(offset as u32, global, addend);
        }
        for (offset, target) in blob.functions {
            let function = module.declare_func_in_data(target, &mut description);
            description.write_function_addr(offset as u32, function);
        }
        module.define_data(id, &description).expect("data is defined once");
    }

    /// An array of blobs of the same size.
    fn array(&mut self, module: &mut impl Module, size: usize, entries: Vec<Blob>) -> Option<DataId> {
        if entries.is_empty() {
            return None;
        }
        let mut all = Blob::new(size * entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            all.embed(size * index, entry);
        }
        Some(self.define(module, all))
    }

    fn string(&mut self, module: &mut impl Module, blob: &mut Blob, at: usize, text: &str) {
        self.bytes(module, blob, at, text.as_bytes());
    }

    fn bytes(&mut self, module: &mut impl Module, blob: &mut Blob, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            blob.table(at, None, 0);
            return;
        }
        let id = match self.strings.get(bytes) {
            Some(&id) => id,
            None => {
                let mut data = Blob::new(bytes.len());
                data.put(0, bytes);
                let id = self.define(module, data);
                self.strings.insert(bytes.to_vec(), id);
                id
            }
        };
        blob.table(at, Some(id), bytes.len());
    }

    fn kinds(&mut self, module: &mut impl Module, blob: &mut Blob, at: usize, kinds: &[model::Kind]) {
        let entries = kinds.iter().map(|&kind| byte(kind as u8)).collect();
        let table = self.array(module, 1, entries);
        blob.table(at, table, kinds.len());
    }

    /// The data object that a symbol of a piece of code stands for.
    pub(crate) fn data(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        cut: usize,
        symbol: &Symbol,
    ) -> DataId {
        match symbol {
            Symbol::Interface(id) => self.interface(module, program, *id),
            Symbol::Template(id) => self.declare_template(module, *id),
            Symbol::Collection(id) => self.collection(module, program, *id),
            Symbol::Any(any) => self.any(module, program, any),
            Symbol::NoArray => self.once(module, "no array".into(), |_, _| Blob::new(16 + 8 * MOST_INDICES)),
            Symbol::Text(bytes) => self.text(module, bytes),
            Symbol::Owned => self.once(module, format!("owned{cut}"), |this, module| {
                let mut blob = Blob::new(16);
                let owned = this.frames[cut].owned.iter().filter(|slot| slot.variable.is_some());
                let owned: Vec<OwnedSlot> = owned.cloned().collect();
                this.owned_table(module, program, &mut blob, 0, &owned);
                blob
            }),
            Symbol::Frame(cut) => self.frame(module, program, *cut),
            Symbol::Procedure(id) => self.procedure(module, program, *id),
        }
    }

    /// A condition of AWAIT, by the place where it is tested: in a function, or by the process itself.
    pub(crate) fn condition(
        &mut self,
        module: &mut impl Module,
        at: (usize, BlockId),
        function: Option<FuncId>,
        dependence: Dependence,
    ) -> DataId {
        use model::Condition as C;
        self.once(module, format!("condition{at:?}"), |_, _| {
            let mut blob = Blob::new(size_of::<C>());
            if let Some(function) = function {
                blob.function(offset_of!(C, test), function);
            }
            blob.u64(offset_of!(C, depends), dependence.bits);
            blob.put(offset_of!(C, common), &[dependence.common as u8]);
            blob.put(offset_of!(C, watches), &[dependence.watches as u8]);
            blob
        })
    }

    fn once<M: Module>(
        &mut self,
        module: &mut M,
        key: String,
        make: impl FnOnce(&mut Self, &mut M) -> Blob,
    ) -> DataId {
        if let Some(&id) = self.symbols.get(&key) {
            return id;
        }
        let blob = make(self, module);
        let id = self.define(module, blob);
        self.symbols.insert(key, id);
        id
    }

    fn text(&mut self, module: &mut impl Module, bytes: &[u8]) -> DataId {
        let key = format!("text{bytes:?}");
        self.once(module, key, |_, _| {
            let mut blob = Blob::new(16 + bytes.len());
            blob.put(0, &(-1i64).to_le_bytes());
            blob.u64(8, bytes.len() as u64);
            blob.put(16, bytes);
            blob
        })
    }

    fn collection(&mut self, module: &mut impl Module, program: &Program, id: VariableId) -> DataId {
        use model::Collection as C;
        let variable = &program.variables[id.index()];
        let declared = variable.collection.as_ref().expect("a collection");
        let kinds: Vec<_> = declared.indices.iter().map(kind_of).collect();
        let booleans = declared.indices.contains(&Type::Boolean);
        let element = kind_of(&variable.ty);
        let key = format!("collection{kinds:?}{element:?}{}{booleans}", declared.array);
        self.once(module, key, |this, module| {
            let mut blob = Blob::new(size_of::<C>());
            this.kinds(module, &mut blob, offset_of!(C, keys), &kinds);
            blob.put(offset_of!(C, element), &[element as u8]);
            blob.put(offset_of!(C, array), &[declared.array as u8]);
            blob.put(offset_of!(C, boolean_keys), &[booleans as u8]);
            blob
        })
    }

    fn any(&mut self, module: &mut impl Module, program: &Program, any: &AnyType) -> DataId {
        use model::AnyType as A;
        let ids = |facets: &[checked::Facet]| facets.iter().map(|facet| facet.interface).collect::<Vec<_>>();
        let offers = ids(&any.offers);
        let requires = any.requires.as_deref().map(ids);
        self.once(module, format!("any{offers:?}{requires:?}"), |this, module| {
            let mut blob = Blob::new(size_of::<A>());
            this.interfaces(module, program, &mut blob, offset_of!(A, offers), &offers);
            let listed = requires.clone().unwrap_or_default();
            this.interfaces(module, program, &mut blob, offset_of!(A, requires), &listed);
            blob.put(offset_of!(A, requires_anything), &[requires.is_none() as u8]);
            blob
        })
    }

    fn interfaces(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        blob: &mut Blob,
        at: usize,
        ids: &[InterfaceId],
    ) {
        let interfaces: Vec<DataId> = ids.iter().map(|&id| self.interface(module, program, id)).collect();
        self.pointers(module, blob, at, &interfaces);
    }

    /// A table of the addresses of data objects.
    fn pointers(&mut self, module: &mut impl Module, blob: &mut Blob, at: usize, targets: &[DataId]) {
        let entry = |&target: &DataId| {
            let mut entry = Blob::new(8);
            entry.pointer(0, target);
            entry
        };
        let table = self.array(module, 8, targets.iter().map(entry).collect());
        blob.table(at, table, targets.len());
    }

    fn owned(&mut self, module: &mut impl Module, program: &Program, blob: &mut Blob, at: usize, cut: usize) {
        let owned = std::mem::take(&mut self.frames[cut].owned);
        self.owned_table(module, program, blob, at, &owned);
        self.frames[cut].owned = owned;
    }

    fn owned_table(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        blob: &mut Blob,
        at: usize,
        owned: &[OwnedSlot],
    ) {
        use model::Owned as O;
        let mut entries = Vec::new();
        for slot in owned {
            let mut entry = Blob::new(size_of::<O>());
            entry.u32(offset_of!(O, offset), slot.offset);
            entry.put(offset_of!(O, kind), &[slot.kind as u8]);
            if let Some(id) = slot.variable {
                if slot.kind == model::Kind::Collection {
                    let collection = self.collection(module, program, id);
                    entry.pointer(offset_of!(O, collection), collection);
                }
                let name = &program.variables[id.index()].name;
                self.string(module, &mut entry, offset_of!(O, name), name);
            } else {
                self.string(module, &mut entry, offset_of!(O, name), "");
            }
            entries.push(entry);
        }
        let table = self.array(module, size_of::<O>(), entries);
        blob.table(at, table, owned.len());
    }

    fn frame(&mut self, module: &mut impl Module, program: &Program, cut: usize) -> DataId {
        use model::Frame as F;
        self.once(module, format!("frame{cut}"), |this, module| {
            let mut blob = Blob::new(size_of::<F>());
            blob.u32(offset_of!(F, size), this.frames[cut].size);
            let name = this.frames[cut].name.clone();
            this.string(module, &mut blob, offset_of!(F, name), &name);
            this.owned(module, program, &mut blob, offset_of!(F, owned), cut);
            blob
        })
    }

    /// Defines the program itself, under the name `ds_program`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn program(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        entry: ComponentId,
        files: &[SourceFile],
        locations: &Locations,
        suspension_points: &[(FuncId, u32)],
        enter: FuncId,
        native_shim: FuncId,
    ) -> DataId {
        use model::Program as P;
        let mut blob = Blob::new(size_of::<P>());
        let template = self.declare_template(module, entry);
        blob.pointer(offset_of!(P, entry), template);
        let mut entries = Vec::new();
        for file in files {
            let mut entry = Blob::new(16);
            self.string(module, &mut entry, 0, &file.path);
            entries.push(entry);
        }
        let table = self.array(module, 16, entries);
        blob.table(offset_of!(P, files), table, files.len());
        let size = size_of::<model::Location>();
        let mut entries = Blob::new(size * locations.table.len());
        for (index, location) in locations.table.iter().enumerate() {
            entries.u32(size * index + offset_of!(model::Location, file), location.file);
            entries.u32(size * index + offset_of!(model::Location, line), location.line);
            entries.u32(size * index + offset_of!(model::Location, column), location.column);
            entries.u32(size * index + offset_of!(model::Location, name), location.name);
        }
        let table = (!locations.table.is_empty()).then(|| self.define(module, entries));
        blob.table(offset_of!(P, locations), table, locations.table.len());
        let mut entries = Vec::new();
        for name in &locations.names {
            let mut entry = Blob::new(size_of::<model::Str>());
            self.string(module, &mut entry, 0, name);
            entries.push(entry);
        }
        let table = self.array(module, size_of::<model::Str>(), entries);
        blob.table(offset_of!(P, names), table, locations.names.len());
        let mut points = Vec::new();
        for (function, location) in suspension_points {
            let mut point = Blob::new(size_of::<model::SuspensionPoint>());
            point.function(offset_of!(model::SuspensionPoint, function), *function);
            point.u32(offset_of!(model::SuspensionPoint, location), *location);
            points.push(point);
        }
        let table = self.array(module, size_of::<model::SuspensionPoint>(), points);
        blob.table(offset_of!(P, suspension_points), table, suspension_points.len());
        blob.function(offset_of!(P, enter), enter);
        blob.function(offset_of!(P, native_shim), native_shim);
        let all: Vec<InterfaceId> = (0..program.interfaces.len() as u32).map(InterfaceId).collect();
        self.interfaces(module, program, &mut blob, offset_of!(P, interfaces), &all);
        let procedures = std::mem::take(&mut self.procedures);
        self.pointers(module, &mut blob, offset_of!(P, procedures), &procedures);
        let id = module.declare_data("ds_program", Linkage::Export, false, false).expect("the only program");
        self.fill(module, id, blob);
        id
    }
}

fn byte(value: u8) -> Blob {
    let mut blob = Blob::new(1);
    blob.put(0, &[value]);
    blob
}
