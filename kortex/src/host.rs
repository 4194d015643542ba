//! Objects that the naming contexts of a program share: the platform's means to wait for the outside, and what the
//! contexts make for each other. They are found by their types, so a platform needs to know no protocol, and this crate
//! no platform.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use core::cell::RefCell;
use core::fmt;

use crate::peer::Composites;

/// The shared objects of a program.
#[derive(Default)]
pub struct Host {
    composites: Option<Rc<dyn Composites>>,
    shared: RefCell<Vec<Rc<dyn Any>>>,
}

impl Host {
    /// The shared objects of a program, which runs composite calls of other programs if it has `composites`.
    pub fn new(composites: Option<Rc<dyn Composites>>) -> Host {
        Host { composites, shared: RefCell::default() }
    }

    /// Runs composite calls that other programs ship here.
    pub fn composites(&self) -> Option<&Rc<dyn Composites>> {
        self.composites.as_ref()
    }

    /// The shared object of this type, if there is one.
    pub fn find<T: 'static>(&self) -> Option<Rc<T>> {
        self.shared.borrow().iter().find_map(|it| it.clone().downcast().ok())
    }

    /// The shared object of this type, which is made now if there is none.
    pub fn share<T: 'static>(&self, make: impl FnOnce() -> Rc<T>) -> Rc<T> {
        self.find().unwrap_or_else(|| {
            let made = make();
            self.shared.borrow_mut().push(made.clone());
            made
        })
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("shared", &self.shared.borrow().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_made_once() {
        let host = Host::default();
        assert!(host.find::<u32>().is_none());
        let first = host.share(|| Rc::new(1_u32));
        assert!(Rc::ptr_eq(&first, &host.share(|| unreachable!("there is one"))));
        assert!(host.find::<i32>().is_none());
    }
}
