//! How values of [`drystone_specialise::ir`] are held in registers: a scalar in one, an aggregate in one for each of
//! its scalars. An integer of odd width is zero-extended to the next width of the machine.

use crate::error::{Attempt, refuse};
use cranelift_codegen::ir::{Type as Register, types};
use drystone_specialise::ir::Type;

/// The most scalars that a value may have: what C passes in registers has two, and more would only show that an array
/// is copied as a value.
const MOST_LEAVES: usize = 64;

/// A scalar within a value.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Its type.
    pub ty: Type,
    /// Where it lies in memory, in bytes from the start of the value.
    pub offset: u64,
}

/// The register that an integer of so many bits is held in.
pub(crate) fn container(bits: u32) -> Attempt<Register> {
    match bits {
        1..=8 => Ok(types::I8),
        9..=16 => Ok(types::I16),
        17..=32 => Ok(types::I32),
        33..=64 => Ok(types::I64),
        128 => Ok(types::I128),
        _ => refuse(format!("integers of {bits} bits can't be held; up to 64, and 128, can")),
    }
}

/// Whether an integer of so many bits fills its register.
pub(crate) fn fills(bits: u32) -> bool {
    matches!(bits, 8 | 16 | 32 | 64 | 128)
}

/// The register that a scalar is held in.
pub(crate) fn register(ty: &Type) -> Attempt<Register> {
    match ty {
        Type::Int(bits) => container(*bits),
        Type::Float => Ok(types::F32),
        Type::Double => Ok(types::F64),
        Type::Ptr => Ok(types::I64),
        Type::Vector(..) => refuse(
            "vectors can't be compiled; compile the C code with -fno-vectorize -fno-slp-vectorize, and pass pairs \
             of floats through memory",
        ),
        Type::Void | Type::Array(..) | Type::Struct { .. } => refuse("a scalar is expected here"),
    }
}

/// The scalars of a type in their order.
pub(crate) fn leaves(ty: &Type) -> Attempt<Vec<Leaf>> {
    let mut found = Vec::new();
    collect(ty, 0, &mut found)?;
    Ok(found)
}

fn collect(ty: &Type, offset: u64, found: &mut Vec<Leaf>) -> Attempt<()> {
    match ty {
        Type::Void => Ok(()),
        Type::Array(count, element) => {
            let size = element.layout().size;
            // An element without scalars would let the loop run without ever reaching the limit.
            if size == 0 {
                return Ok(());
            }
            (0..*count).try_for_each(|at| collect(element, offset.wrapping_add(at * size), found))
        }
        Type::Struct { fields, .. } => {
            let offsets = ty.offsets();
            fields.iter().zip(offsets).try_for_each(|(field, at)| collect(field, offset + at, found))
        }
        _ if found.len() == MOST_LEAVES => {
            refuse(format!("a value of more than {MOST_LEAVES} scalars is too large; copy it through memory"))
        }
        scalar => {
            register(scalar)?;
            found.push(Leaf { ty: scalar.clone(), offset });
            Ok(())
        }
    }
}

/// Which of the scalars of a type belong to the part that a path leads to.
pub(crate) fn part(ty: &Type, path: &[u32]) -> Attempt<std::ops::Range<usize>> {
    let Some((&step, rest)) = path.split_first() else { return Ok(0..leaves(ty)?.len()) };
    let (before, inner) = match ty {
        Type::Struct { fields, .. } if (step as usize) < fields.len() => {
            let mut before = 0;
            for field in &fields[..step as usize] {
                before += leaves(field)?.len();
            }
            (before, &fields[step as usize])
        }
        Type::Array(count, element) if u64::from(step) < *count => {
            (leaves(element)?.len() * step as usize, &**element)
        }
        _ => return refuse(format!("there is no part {step} in a value of this type")),
    };
    let inner = part(inner, rest)?;
    Ok(before + inner.start..before + inner.end)
}
