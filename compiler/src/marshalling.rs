//! Marshalling code: moves the values of a message between its words and XDR (RFC 4506), for each message that may
//! leave the program. It is straight-line code with a call for each text. `drystone_component::wire` does the same for
//! any message, driven by its description.

use std::collections::{BTreeSet, HashMap};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, Signature, Type as Machine, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use drystone_language::program::{InterfaceId, Message, Program, Type};

use crate::entries;
use crate::mir::EntryPoint;
use crate::shims::shim;
use crate::workbench::Workbench;

/// The functions for one message; `drystone_component::Marshalling` says what they do.
pub(crate) struct Functions {
    pub length: FuncId,
    pub encode: FuncId,
    pub decode: FuncId,
}

/// For messages, by the numbers of their interfaces and their own.
pub(crate) type Marshalling = HashMap<(InterfaceId, usize), Functions>;

/// Defines it for all messages of these interfaces, except for those that carry components.
pub(crate) fn define<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    entries: &HashMap<&'static str, FuncId>,
    program: &Program,
    interfaces: &BTreeSet<InterfaceId>,
) -> Marshalling {
    let mut all = Marshalling::new();
    for &id in interfaces {
        for (number, message) in program.interfaces[id.index()].messages.iter().enumerate() {
            if let Some(forms) = forms(message) {
                let name = format!("ds_{}_{number}", id.0);
                all.insert((id, number), functions(module, workbench, entries, &name, &forms));
            }
        }
    }
    all
}

/// The XDR form of a value.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A word, of 8 bytes.
    Hyper,
    /// A number up to a limit, of 4 bytes.
    Small { limit: i64 },
    /// Its length, and as many bytes.
    Text,
}

impl Form {
    /// Its size in bytes, if that is constant.
    fn size(self) -> Option<i32> {
        match self {
            Form::Hyper => Some(8),
            Form::Small { .. } => Some(4),
            Form::Text => None,
        }
    }
}

/// `None` if it cannot leave the program.
fn forms(message: &Message) -> Option<Vec<Form>> {
    let of = |(_, ty): &(String, Type)| match ty {
        Type::Integer | Type::Real => Some(Form::Hyper),
        Type::Boolean => Some(Form::Small { limit: 1 }),
        Type::Character => Some(Form::Small { limit: 255 }),
        Type::Text => Some(Form::Text),
        Type::Component(_) | Type::Any(_) | Type::Record(_) | Type::Sequence(_) => None,
    };
    message.values.iter().map(of).collect()
}

fn functions<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    entries: &HashMap<&'static str, FuncId>,
    name: &str,
    forms: &[Form],
) -> Functions {
    let mut function =
        |what: &str, takes: usize, gives: bool, build: &dyn Fn(&mut Body<'_, '_, M>, &[Value])| {
            let mut signature = Signature::new(CallConv::SystemV);
            signature.params.extend((0..takes).map(|_| AbiParam::new(types::I64)));
            signature.returns.extend(gives.then(|| AbiParam::new(types::I64)));
            shim(module, workbench, &format!("{name}_{what}"), signature, |module, builder, parameters| {
                build(&mut Body { module, builder, entries }, parameters);
            })
        };
    Functions {
        length: function("length", 1, true, &|body, parameters| body.length(forms, parameters[0])),
        encode: function("encode", 2, false, &|body, parameters| body.encode(forms, parameters)),
        decode: function("decode", 4, true, &|body, parameters| body.decode(forms, parameters)),
    }
}

/// A function while it is built.
struct Body<'a, 'b, M> {
    module: &'a mut M,
    builder: &'a mut FunctionBuilder<'b>,
    entries: &'a HashMap<&'static str, FuncId>,
}

/// Flags of an access to the words of a message.
const WORDS: MemFlagsData = MemFlagsData::trusted();

/// Flags of an access to bytes, which need not be aligned.
const BYTES: MemFlagsData = MemFlagsData::new().with_notrap();

impl<M: Module> Body<'_, '_, M> {
    fn length(&mut self, forms: &[Form], words: Value) {
        let fixed: i32 = forms.iter().filter_map(|form| form.size()).sum();
        let mut length = self.builder.ins().iconst(types::I64, i64::from(fixed));
        let marshalled = self.runtime(&entries::TEXT_MARSHALLED);
        for (index, _) in forms.iter().enumerate().filter(|(_, form)| **form == Form::Text) {
            let text = self.word(words, index);
            let call = self.builder.ins().call(marshalled, &[text]);
            let bytes = self.builder.inst_results(call)[0];
            length = self.builder.ins().iadd(length, bytes);
        }
        self.builder.ins().return_(&[length]);
    }

    fn encode(&mut self, forms: &[Form], parameters: &[Value]) {
        let &[words, mut to] = parameters else { unreachable!("two parameters were declared") };
        let marshal = self.runtime(&entries::TEXT_MARSHAL);
        let mut at = 0;
        for (index, form) in forms.iter().enumerate() {
            let word = self.word(words, index);
            match form.size() {
                Some(size) => {
                    self.put(word, to, at, size);
                    at += size;
                }
                None => {
                    to = self.builder.ins().iadd_imm_s(to, i64::from(at));
                    let call = self.builder.ins().call(marshal, &[word, to]);
                    to = self.builder.inst_results(call)[0];
                    at = 0;
                }
            }
        }
        self.builder.ins().return_(&[]);
    }

    fn decode(&mut self, forms: &[Form], parameters: &[Value]) {
        let &[worker, mut from, end, words] = parameters else {
            unreachable!("four parameters were declared")
        };
        let unmarshal = self.runtime(&entries::TEXT_UNMARSHAL);
        let wrong = self.builder.create_block();
        let mut rest = forms;
        let mut index = 0;
        while !rest.is_empty() {
            let fixed = rest.iter().take_while(|form| form.size().is_some()).count();
            from = self.numbers(&rest[..fixed], (words, index), from, end, wrong);
            index += fixed;
            rest = &rest[fixed..];
            if let Some((_, after)) = rest.split_first() {
                let word = self.builder.ins().iadd_imm_s(words, 8 * index as i64);
                let call = self.builder.ins().call(unmarshal, &[worker, from, end, word]);
                from = self.builder.inst_results(call)[0];
                self.unless(wrong, |builder| builder.ins().icmp_imm_s(IntCC::Equal, from, 0));
                index += 1;
                rest = after;
            }
        }
        let is_all = self.builder.ins().icmp(IntCC::Equal, from, end);
        let answer = self.builder.ins().uextend(types::I64, is_all);
        self.builder.ins().return_(&[answer]);
        self.builder.switch_to_block(wrong);
        let no = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().return_(&[no]);
    }

    /// Reads consecutive numbers; gives the address of the next value.
    fn numbers(
        &mut self,
        forms: &[Form],
        (words, first): (Value, usize),
        from: Value,
        end: Value,
        wrong: Block,
    ) -> Value {
        let size: i32 = forms.iter().filter_map(|form| form.size()).sum();
        if size == 0 {
            return from;
        }
        self.unless(wrong, |builder| {
            let there = builder.ins().isub(end, from);
            builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, there, i64::from(size))
        });
        let mut at = 0;
        for (index, form) in forms.iter().enumerate() {
            let value = self.get(*form, from, at);
            if let Form::Small { limit } = *form {
                self.unless(wrong, |builder| {
                    builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, value, limit)
                });
            }
            self.builder.ins().store(WORDS, value, words, 8 * (first + index) as i32);
            at += form.size().unwrap_or_default();
        }
        self.builder.ins().iadd_imm_s(from, i64::from(size))
    }

    /// Branches to a block if a condition holds.
    fn unless(&mut self, elsewhere: Block, is_so: impl FnOnce(&mut FunctionBuilder) -> Value) {
        let is_so = is_so(self.builder);
        let on = self.builder.create_block();
        self.builder.ins().brif(is_so, elsewhere, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    fn word(&mut self, words: Value, index: usize) -> Value {
        self.builder.ins().load(types::I64, WORDS, words, 8 * index as i32)
    }

    /// Writes a number of that many bytes.
    fn put(&mut self, word: Value, to: Value, at: i32, size: i32) {
        let number = match size {
            8 => word,
            _ => self.builder.ins().ireduce(types::I32, word),
        };
        let swapped = self.builder.ins().bswap(number);
        self.builder.ins().store(BYTES, swapped, to, at);
    }

    /// Reads a number as the word that it becomes.
    fn get(&mut self, form: Form, from: Value, at: i32) -> Value {
        let machine: Machine = if form == Form::Hyper { types::I64 } else { types::I32 };
        let bytes = self.builder.ins().load(machine, BYTES, from, at);
        let number = self.builder.ins().bswap(bytes);
        match form {
            Form::Hyper => number,
            _ => self.builder.ins().uextend(types::I64, number),
        }
    }

    fn runtime(&mut self, entry: &EntryPoint) -> FuncRef {
        self.module.declare_func_in_func(self.entries[entry.name], self.builder.func)
    }
}
