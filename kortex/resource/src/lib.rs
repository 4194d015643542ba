//! Resources of a kernel, and who manages them (paper 002, section 4.2 and Figure 6). A manager makes resources of
//! lower ones: threads of memory and the processor's contexts, pages of memory. Whoever is to have a resource is bound
//! to it, and the hint says how: with which priority a thread has the processor, at which address a page is.
//!
//! The paper's resources release themselves. Here their manager does it, so that a resource needn't know its own.

#![no_std]

/// Makes resources, and allocates them by binding.
pub trait ResourceManager {
    /// Lower resources, of which one is made.
    type Of;
    /// What is made.
    type Resource;
    /// How it is allocated.
    type Hint;
    /// By which an allocated resource is known.
    type Binding;
    /// Why something can't be.
    type Refused;

    /// Makes one, which nobody has yet.
    ///
    /// # Errors
    /// It can't be made; what it would be made of is as before.
    fn create(&self, of: Self::Of) -> Result<Self::Resource, Self::Refused>;

    /// Allocates one.
    ///
    /// # Errors
    /// It can't be had so; nobody has it.
    ///
    /// # Safety
    /// This manager made it, and whoever uses it besides knows of that.
    unsafe fn bind(
        &self,
        resource: &Self::Resource,
        hint: Self::Hint,
    ) -> Result<Self::Binding, Self::Refused>;

    /// Nobody has it any more by that binding. The resource is still there.
    ///
    /// # Safety
    /// It is a binding of this manager's, which is used no more.
    unsafe fn unbind(&self, binding: Self::Binding);

    /// Gives back what it was made of.
    ///
    /// # Safety
    /// This manager made it, nobody has it, and nobody uses it any more.
    unsafe fn release(&self, resource: Self::Resource);
}
