//! The layouts of sequences that messages carry. Each form is read once, when it first comes, and its layout is kept
//! for as long as the process runs: there are no more than the program's interfaces have.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::ToString;

use drystone_component::form::{Form, Layout};
use drystone_component::{Parameter, Type};

use crate::spin::Spin;

static KNOWN: Spin<BTreeMap<&'static str, &'static Layout>> = Spin::new(BTreeMap::new());

/// What a parameter consists of.
///
/// # Panics
/// It is a component.
#[inline]
pub fn layout_of(parameter: &Parameter) -> &'static Layout {
    match parameter.ty {
        Type::Integer => &Layout::Integer,
        Type::Real => &Layout::Real,
        Type::Boolean => &Layout::Boolean,
        Type::Character => &Layout::Character,
        Type::Text => &Layout::Text,
        Type::Sequence => layout_of_sequence(parameter),
        Type::Component => panic!("a component has no layout"),
    }
}

fn layout_of_sequence(parameter: &Parameter) -> &'static Layout {
    let form = parameter.form.get();
    // The lock is given back before the form is read.
    let known = KNOWN.lock().get(form).copied();
    known.unwrap_or_else(|| {
        let form: &'static str = Box::leak(form.to_string().into_boxed_str());
        let layout: &'static Layout = Box::leak(Box::new(Layout::of(Form::new(form))));
        KNOWN.lock().entry(form).or_insert(layout)
    })
}
