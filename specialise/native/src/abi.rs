//! The calling convention (System V on x86-64): which register each scalar goes in, and how narrow ones are extended.

use crate::error::{Attempt, refuse};
use crate::shape;
use cranelift_codegen::ir::{
    AbiParam, ArgumentExtension, ArgumentPurpose, Signature, Type as Register, types,
};
use cranelift_codegen::isa::CallConv;
use drystone_specialise::ir::{Extension, Function, ParamAttributes, Type};

/// The most bytes that are passed by value.
const LARGEST_COPY: u64 = 1 << 20;

/// A parameter: its type and what is said about it.
pub(crate) struct Passed<'a> {
    /// Its type.
    pub ty: Type,
    /// What the declaration and the call site say about it; what one says counts for both.
    pub attributes: [Option<&'a ParamAttributes>; 2],
}

impl Passed<'_> {
    /// Size of the copy that the callee gets, if it gets one.
    pub fn copied(&self) -> Option<(u64, u64)> {
        self.attributes.iter().flatten().find_map(|attributes| attributes.byval)
    }

    /// How it is widened.
    pub fn extension(&self) -> Option<Extension> {
        self.attributes.iter().flatten().find_map(|attributes| attributes.extension)
    }

    fn is_returned_structure(&self) -> bool {
        self.attributes.iter().flatten().any(|attributes| attributes.sret.is_some())
    }
}

/// The signature of a function by its declaration.
pub(crate) fn of_function(function: &Function) -> Attempt<Signature> {
    let params = function
        .params
        .iter()
        .map(|param| Passed { ty: param.ty.clone(), attributes: [Some(&param.attributes), None] });
    of(&params.collect::<Vec<_>>(), &function.result, function.result_extension)
}

/// The signature of a function that takes and gives these.
pub(crate) fn of(params: &[Passed], result: &Type, widened: Option<Extension>) -> Attempt<Signature> {
    let mut signature = Signature::new(CallConv::SystemV);
    for passed in params {
        if let Some((size, align)) = passed.copied() {
            if align > 8 {
                return refuse(format!("a structure aligned to {align} bytes can't be passed by value"));
            }
            if size > LARGEST_COPY {
                return refuse(format!("a structure of {size} bytes can't be passed by value"));
            }
            let purpose = ArgumentPurpose::StructArgument(size.next_multiple_of(8) as u32);
            signature.params.push(AbiParam::special(types::I64, purpose));
        } else if passed.is_returned_structure() && *result == Type::Void {
            signature.params.push(AbiParam::special(types::I64, ArgumentPurpose::StructReturn));
        } else {
            for leaf in shape::leaves(&passed.ty)? {
                signature.params.push(widened_by(shape::register(&leaf.ty)?, passed.extension()));
            }
        }
    }
    for leaf in shape::leaves(result)? {
        signature.returns.push(widened_by(shape::register(&leaf.ty)?, widened));
    }
    let (floats, integers): (Vec<&AbiParam>, Vec<&AbiParam>) =
        signature.returns.iter().partition(|leaf| leaf.value_type.is_float());
    let integers: u32 = integers.iter().map(|leaf| leaf.value_type.bits().div_ceil(64)).sum();
    if floats.len() > 2 || integers > 2 {
        return refuse("a result that doesn't fit two registers can't be given back as a value");
    }
    Ok(signature)
}

/// The signature of a function of the C library.
pub(crate) fn of_library(params: &[Register], result: Register) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.push(AbiParam::new(result));
    signature
}

/// How many vector registers the arguments of a call take.
pub(crate) fn vector_registers(signature: &Signature) -> u32 {
    signature.params.iter().filter(|param| param.value_type.is_float()).count().min(8) as u32
}

fn widened_by(register: Register, extension: Option<Extension>) -> AbiParam {
    let mut param = AbiParam::new(register);
    param.extension = match extension {
        Some(Extension::Zero) if register.bits() < 64 && register.is_int() => ArgumentExtension::Uext,
        Some(Extension::Sign) if register.bits() < 64 && register.is_int() => ArgumentExtension::Sext,
        _ => ArgumentExtension::None,
    };
    param
}
