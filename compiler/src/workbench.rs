//! Cranelift's contexts, reused from one function to the next.

use cranelift_codegen::Context;
use cranelift_codegen::ir::{Function, Signature, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Module};

/// Contexts that are reused from one function to the next.
pub(crate) struct Workbench {
    context: Context,
    builder: FunctionBuilderContext,
}

impl Workbench {
    pub(crate) fn new<M: Module>(module: &M) -> Workbench {
        Workbench { context: module.make_context(), builder: FunctionBuilderContext::new() }
    }

    /// Builds a function that has been declared.
    pub(crate) fn define<M: Module>(
        &mut self,
        module: &mut M,
        id: FuncId,
        signature: Signature,
        build: impl FnOnce(&mut M, FunctionBuilder),
    ) {
        let context = &mut self.context;
        let mut function = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature);
        build(module, FunctionBuilder::new(&mut function, &mut self.builder));
        context.func = function;
        if let Err(error) = module.define_function(id, context) {
            panic!("the compiler made code that Cranelift refuses: {error:?}\n{}", context.func.display());
        }
        module.clear_context(context);
    }
}
