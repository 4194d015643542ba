//! Descriptions of procedures that crates carry. The platform writes there, once, what carries them.

use std::mem::{offset_of, size_of};

use cranelift_module::{DataId, Module};
use drystone_component as model;
use drystone_language::program::{ProcedureId, Program};

use super::blob::Blob;
use super::{Access, Descriptors};
use crate::carried::signature;

impl Descriptors {
    pub(super) fn procedure(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        id: ProcedureId,
    ) -> DataId {
        use model::Procedure as P;
        let key = format!("procedure{}", id.0);
        if let Some(&known) = self.symbols.get(&key) {
            return known;
        }
        let procedure = &program.procedures[id.index()];
        let mut blob = Blob::new(size_of::<P>());
        let name = procedure.native.as_deref().expect("a crate carries it");
        self.string(module, &mut blob, offset_of!(P, name), name);
        let signature = signature(program, procedure);
        let entries = signature.iter().map(entry).collect();
        let table = self.array(module, size_of::<model::Formal>(), entries);
        blob.table(offset_of!(P, signature), table, signature.len());
        let data = self.declare(module, Access::Write);
        self.fill(module, data, blob);
        self.symbols.insert(key, data);
        self.procedures.push(data);
        data
    }
}

fn entry(formal: &model::Formal) -> Blob {
    use model::Formal as F;
    let mut entry = Blob::new(size_of::<F>());
    entry.put(offset_of!(F, ty), &[formal.ty as u8]);
    entry.put(offset_of!(F, passing), &[formal.passing as u8]);
    entry
}
