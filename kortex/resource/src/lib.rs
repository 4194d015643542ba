//! Resources of a kernel and their managers (*THINK*, section 4.2 and Figure 6). A manager makes resources of lower
//! ones: threads of memory and the processor's contexts, pages of memory. Binding allocates a resource, and the hint
//! says how: the priority of a thread, the address of a page.
//!
//! In *THINK* a resource releases itself. Here the manager releases it, so that a resource needn't know its manager.

#![no_std]

/// Makes resources, and allocates them by binding.
pub trait ResourceManager {
    /// The lower resources from which one is made.
    type Of;
    /// The resource.
    type Resource;
    /// How a resource is to be allocated.
    type Hint;
    /// An allocation of a resource.
    type Binding;
    /// Why a request is refused.
    type Refused;

    /// Makes a resource, which isn't bound yet.
    ///
    /// # Errors
    /// It can't be made; the lower resources are as before.
    fn create(&self, of: Self::Of) -> Result<Self::Resource, Self::Refused>;

    /// Binds a resource.
    ///
    /// # Errors
    /// It can't be bound that way, and isn't.
    ///
    /// # Safety
    /// This manager made the resource, and its other users expect the binding.
    unsafe fn bind(
        &self,
        resource: &Self::Resource,
        hint: Self::Hint,
    ) -> Result<Self::Binding, Self::Refused>;

    /// Ends a binding. The resource still exists.
    ///
    /// # Safety
    /// It is a binding of this manager's, and not used any more.
    unsafe fn unbind(&self, binding: Self::Binding);

    /// Gives the lower resources back.
    ///
    /// # Safety
    /// This manager made the resource, which isn't bound or used any more.
    unsafe fn release(&self, resource: Self::Resource);
}
