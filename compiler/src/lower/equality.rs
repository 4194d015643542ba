//! `a = b` and `a # b` of records and sequences, which the runtime compares. What they consist of, it is told by a text.

use drystone_language::program::*;
use drystone_runtime::text::equality;

use super::Lower;
use crate::classify::is_held;
use crate::entries;
use crate::mir::*;

impl Lower<'_, '_> {
    /// Compares two records, or two sequences.
    pub(super) fn compare_values(&mut self, comparison: Comparison, a: &Expression, b: &Expression) -> Reg {
        let mut form = Vec::new();
        self.form(&a.ty, &mut form);
        let (a, b) = self.two_texts(a, b);
        let form = self.code.symbol(Symbol::Text(form));
        let equal = self.code.call(&entries::VALUE_EQUAL, vec![a.reg, b.reg, form]);
        self.code.drop_text(a);
        self.code.drop_text(b);
        if comparison == Comparison::Equal {
            return equal;
        }
        let zero = self.code.int(0);
        self.code.op(Op::Equal, equal, zero)
    }

    /// Describes values of a type.
    fn form(&self, ty: &Type, form: &mut Vec<u8>) {
        match ty {
            Type::Real => form.push(equality::REAL),
            Type::Text => form.push(equality::TEXT),
            Type::Sequence(element) => {
                form.push(equality::SEQUENCE);
                self.form(element, form);
            }
            Type::Record(id) => {
                form.push(equality::RECORD);
                // In the order of its words: what is owned comes first.
                let fields = &self.unit.program.records[id.index()].fields;
                let (owned, plain): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, ty)| is_held(ty));
                owned.iter().chain(&plain).for_each(|(_, ty)| self.form(ty, form));
                form.push(equality::END);
            }
            _ => form.push(equality::WORD),
        }
    }
}
