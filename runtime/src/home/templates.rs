//! Templates that no compiler made: of the components that stand for something elsewhere.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use drystone_component::{Role, Template};

/// See the head of this file. They live for ever.
#[derive(Default)]
pub struct Templates {
    /// By the address of what one is for (an interface, a template), and by its role.
    known: BTreeMap<(usize, u8), &'static Template>,
}

impl Templates {
    /// The template of a role for something, which `make` makes if it isn't there.
    pub fn get<T>(
        &mut self,
        what: &'static T,
        role: Role,
        make: impl FnOnce() -> Template,
    ) -> &'static Template {
        let key = (core::ptr::from_ref(what).addr(), role as u8);
        self.known.entry(key).or_insert_with(|| Box::leak(Box::new(make())))
    }
}
