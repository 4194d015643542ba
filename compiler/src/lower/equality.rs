//! `a = b` and `a # b` of records and sequences, which the runtime compares.

use drystone_language::program::*;

use super::Lower;
use crate::entries;
use crate::mir::*;

impl Lower<'_, '_> {
    /// Compares two records, or two sequences.
    pub(super) fn compare_values(&mut self, comparison: Comparison, a: &Expression, b: &Expression) -> Reg {
        let form = self.unit.program.form(&a.ty);
        let (a, b) = self.two_texts(a, b);
        let form = self.code.symbol(Symbol::Text(form.into_bytes()));
        let equal = self.code.call(&entries::VALUE_EQUAL, vec![a.reg, b.reg, form]);
        self.code.drop_text(a);
        self.code.drop_text(b);
        if comparison == Comparison::Equal {
            return equal;
        }
        let zero = self.code.int(0);
        self.code.op(Op::Equal, equal, zero)
    }
}
