//! Initial contents of global variables: bytes, and relocations.

use crate::error::{Attempt, refuse};
use crate::unit::Unit;
use cranelift_module::{DataDescription, Module};
use drystone_specialise::ir::{Const, FunctionId, Global, GlobalId, Type};

/// The largest variable that is loaded.
const LARGEST: u64 = 1 << 30;

/// Puts a variable with an initial value into memory.
pub(crate) fn define(unit: &mut Unit, id: GlobalId, global: &Global, initial: &Const) -> Attempt<()> {
    let size = global.ty.layout().size;
    if size > LARGEST {
        return refuse(format!("it has {size} bytes; {LARGEST} is the most that is loaded"));
    }
    if !global.align.is_power_of_two() || global.align > 4096 {
        return refuse(format!(
            "it is to be aligned to {} bytes; powers of two up to 4096 can be",
            global.align
        ));
    }
    let data = unit.global(id)?;
    let mut image = Image { bytes: Vec::new(), addresses: Vec::new() };
    if !is_zero(initial) {
        image.bytes = vec![0; size as usize];
        image.write(initial, 0)?;
    }
    let mut description = DataDescription::new();
    description.set_align(global.align);
    match image.bytes.is_empty() {
        true => description.define_zeroinit(size as usize),
        false => description.define(image.bytes.into_boxed_slice()),
    }
    for (offset, target) in image.addresses {
        match target {
            Target::Global(global, addend) => {
                let target = unit.global(global)?;
                let target = unit.jit.declare_data_in_data(target, &mut description);
                description.write_data_addr(offset, target, addend);
            }
            Target::Function(function) => {
                let target = unit.function(function)?;
                let target = unit.jit.declare_func_in_data(target, &mut description);
                description.write_function_addr(offset, target);
            }
        }
    }
    unit.jit.define_data(data, &description)?;
    Ok(())
}

/// Whether a constant is all zeros on the face of it.
fn is_zero(constant: &Const) -> bool {
    match constant {
        Const::Zero(_) | Const::Undef(_) | Const::Null => true,
        Const::Int { value, .. } => *value == 0,
        _ => false,
    }
}

/// What an address in a variable leads to.
enum Target {
    Global(GlobalId, i64),
    Function(FunctionId),
}

/// A variable's memory in the making.
struct Image {
    bytes: Vec<u8>,
    addresses: Vec<(u32, Target)>,
}

impl Image {
    fn write(&mut self, constant: &Const, at: u64) -> Attempt<()> {
        match constant {
            Const::Int { bits, value } => {
                let size = u64::from(bits.div_ceil(8)).min(16) as usize;
                self.put(at, &value.to_le_bytes()[..size])
            }
            Const::Float(bits) => self.put(at, &bits.to_le_bytes()),
            Const::Double(bits) => self.put(at, &bits.to_le_bytes()),
            Const::Null | Const::Undef(_) | Const::Zero(_) => Ok(()),
            Const::Global(global, addend) => self.address(at, Target::Global(*global, *addend)),
            Const::Function(function) => self.address(at, Target::Function(*function)),
            Const::Aggregate(ty, parts) => self.write_parts(ty, parts, at),
            Const::Bytes(bytes) => self.put(at, bytes),
            Const::Address(64, inner) => self.write(inner, at),
            Const::Address(bits, _) => refuse(format!("it holds an address cut to {bits} bits")),
            Const::Pointer(inner) => match &**inner {
                Const::Int { value, .. } => self.put(at, &(*value as u64).to_le_bytes()),
                other => self.write(other, at),
            },
        }
    }

    fn write_parts(&mut self, ty: &Type, parts: &[Const], at: u64) -> Attempt<()> {
        match ty {
            Type::Array(_, element) => {
                let size = element.layout().size;
                (0..).zip(parts).try_for_each(|(index, part)| self.write(part, at + index * size))
            }
            Type::Struct { .. } => ty
                .offsets()
                .into_iter()
                .zip(parts)
                .try_for_each(|(offset, part)| self.write(part, at + offset)),
            Type::Vector(_, element) if element.bits().is_multiple_of(8) => {
                let size = element.bits() / 8;
                (0..).zip(parts).try_for_each(|(index, part)| self.write(part, at + index * size))
            }
            _ => refuse("it holds a constant whose parts don't fit its type"),
        }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Attempt<()> {
        let room = usize::try_from(at).ok().and_then(|at| self.bytes.get_mut(at..)?.get_mut(..bytes.len()));
        match room {
            Some(room) => {
                room.copy_from_slice(bytes);
                Ok(())
            }
            None => refuse("its initial value is larger than its type"),
        }
    }

    fn address(&mut self, at: u64, target: Target) -> Attempt<()> {
        self.put(at, &[0; 8])?;
        self.addresses.push((at as u32, target));
        Ok(())
    }
}
