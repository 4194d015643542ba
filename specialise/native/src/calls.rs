//! Calls of functions.

use crate::abi::{self, Passed};
use crate::error::{Attempt, refuse};
use crate::shape;
use crate::translation::Translation;
use cranelift_codegen::ir::{InstBuilder, Signature, Value, types};
use cranelift_module::{FuncId, Module as _};
use drystone_specialise::ir::{CallAttributes, Const, Extension, FunctionId, Operand, Type};

impl Translation<'_, '_, '_> {
    /// A call; gives the scalars of the result.
    pub fn call(
        &mut self,
        result: &Type,
        callee: &Operand,
        args: &[Operand],
        variadic: Option<usize>,
        attributes: &CallAttributes,
    ) -> Attempt<Vec<Value>> {
        let module = self.unit.module;
        let known = match callee {
            Operand::Const(Const::Function(id)) => {
                module.functions.get(id.0 as usize).map(|known| (*id, known))
            }
            _ => None,
        };
        if let Some(name) = known.and_then(|(_, function)| function.name.strip_prefix("llvm.")) {
            return self.intrinsic(name, result, args);
        }
        let declared = known.map(|(_, function)| function);
        let passed: Vec<Passed> = args
            .iter()
            .enumerate()
            .map(|(at, arg)| Passed {
                ty: self.body.type_of(arg),
                attributes: [
                    attributes.params.get(at),
                    declared.and_then(|function| function.params.get(at)).map(|param| &param.attributes),
                ],
            })
            .collect();
        let extension = declared.and_then(|function| function.result_extension);
        let signature = abi::of(&passed, result, extension)?;
        let mut values = Vec::with_capacity(args.len());
        for (arg, passed) in args.iter().zip(&passed) {
            self.pass(arg, passed, &mut values)?;
        }
        let results = match (known, variadic) {
            (Some((id, function)), Some(_)) => self.call_variadic(id, &function.name, signature, &values)?,
            (Some((id, _)), None) => {
                let id = self.unit.function(id)?;
                self.call_known(id, signature, &values)
            }
            (None, Some(_)) if abi::vector_registers(&signature) > 0 => {
                return refuse(
                    "a variadic function that isn't known before the program runs can't be called with floats: the \
                     register that counts them can't be set",
                );
            }
            (None, _) => {
                let callee = self.scalar(callee)?;
                self.call_address(callee, signature, &values)
            }
        };
        let mut trimmed = Vec::with_capacity(results.len());
        for (leaf, value) in shape::leaves(result)?.into_iter().zip(results) {
            trimmed.push(match (leaf.ty, extension) {
                (Type::Int(bits), None | Some(Extension::Sign)) => self.trimmed(value, bits),
                _ => value,
            });
        }
        Ok(trimmed)
    }

    /// Makes an argument ready.
    fn pass(&mut self, arg: &Operand, passed: &Passed, values: &mut Vec<Value>) -> Attempt<()> {
        if let Some((size, _)) = passed.copied() {
            let from = self.scalar(arg)?;
            values.push(self.rounded_up(from, size)?);
            return Ok(());
        }
        for value in self.parts(arg)? {
            values.push(match (&passed.ty, passed.extension()) {
                (Type::Int(bits), Some(Extension::Sign)) => self.signed(value, *bits),
                _ => value,
            });
        }
        Ok(())
    }

    /// Cranelift copies whole words onto the stack, and a structure may end at the end of what can be read.
    fn rounded_up(&mut self, from: Value, size: u64) -> Attempt<Value> {
        if size.is_multiple_of(8) {
            return Ok(from);
        }
        let slot = self.slot(size.next_multiple_of(8), 8)?;
        let copy = self.builder.ins().stack_addr(types::I64, slot, 0);
        self.copy_bytes((copy, 0), (from, 0), size)?;
        Ok(copy)
    }

    fn call_known(&mut self, id: FuncId, signature: Signature, values: &[Value]) -> Vec<Value> {
        let reference = self.function_reference(id);
        // C lets a function be called with other types than it is declared with, if it knows better itself.
        if self.unit.jit.declarations().get_function_decl(id).signature == signature {
            let call = self.builder.ins().call(reference, values);
            return self.builder.inst_results(call).to_vec();
        }
        let address = self.builder.ins().func_addr(types::I64, reference);
        self.call_address(address, signature, values)
    }

    fn call_address(&mut self, address: Value, signature: Signature, values: &[Value]) -> Vec<Value> {
        let signature = self.builder.import_signature(signature);
        let call = self.builder.ins().call_indirect(signature, address, values);
        self.builder.inst_results(call).to_vec()
    }

    fn call_variadic(
        &mut self,
        id: FunctionId,
        name: &str,
        signature: Signature,
        values: &[Value],
    ) -> Attempt<Vec<Value>> {
        if signature.params.len() != values.len() {
            return refuse(format!("the arguments of the call of `{name}` don't fit each other"));
        }
        let function = self.unit.function(id)?;
        let vectors = abi::vector_registers(&signature);
        let entry = self.unit.variadic(function, vectors, &signature)?;
        Ok(self.call_known(entry, signature, values))
    }

    /// A call of a function of the C library that gives one scalar.
    pub fn library_call(&mut self, name: &str, signature: &Signature, values: &[Value]) -> Attempt<Value> {
        let id = self.unit.library(name, signature)?;
        match self.call_known(id, signature.clone(), values)[..] {
            [result] => Ok(result),
            _ => refuse(format!("the library's function `{name}` gives one value")),
        }
    }
}
