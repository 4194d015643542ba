//! The variable table: where a program's variables are stored, their values, and their encoding.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use drystone_component::Type;
use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};

use super::program::{Program, Refusal, Travels, Variable};
use super::value::{Text, Value};
use crate::engine::Memory;

/// Where a program's variables are stored: TEXTs in slots, all others in words of the program's own memory.
#[derive(Debug)]
pub struct Layout {
    variables: Vec<Variable>,
    /// For each variable, the slot or word of its first value.
    places: Vec<u32>,
    words: u32,
    texts: u32,
}

/// Where a value is: a word, or a slot for a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub ty: Type,
    pub place: usize,
}

/// Bytes of a word.
pub(super) const WORD: usize = 8;

impl Layout {
    /// The layout of a program. `None` if it has too many words or texts for the memory of a program.
    pub fn of(program: &Program) -> Option<Layout> {
        const MOST: u32 = (Memory::MOST / WORD) as u32;
        let mut layout =
            Layout { variables: program.variables.clone(), places: Vec::new(), words: 0, texts: 0 };
        for variable in &program.variables {
            let next = if variable.ty == Type::Text { &mut layout.texts } else { &mut layout.words };
            layout.places.push(*next);
            *next = next.checked_add(variable.count()).filter(|&next| next <= MOST)?;
        }
        Some(layout)
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The slot of a TEXT variable, or the word of any other; of an array, that of its first element.
    pub fn place(&self, variable: u32) -> u32 {
        self.places[variable as usize]
    }

    /// How many words there are.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// How many slots for texts.
    pub fn texts(&self) -> u32 {
        self.texts
    }

    /// The place of an element that exists.
    pub(super) fn cell(&self, variable: u32, index: u32) -> Cell {
        Cell { ty: self.variable(variable).ty, place: (self.place(variable) + index) as usize }
    }

    /// The place of an element, if it exists and has this type.
    pub(super) fn find(&self, variable: u32, index: u32, ty: Type) -> Result<Cell, Refusal> {
        match self.variables.get(variable as usize) {
            None => Err(format!("there is no variable {variable}").into()),
            Some(it) if index >= it.count() => {
                Err(format!("variable {variable} has {} elements, and none is {index}", it.count()).into())
            }
            Some(it) if it.ty != ty => Err(format!("variable {variable} is {}, not {ty}", it.ty).into()),
            Some(_) => Ok(self.cell(variable, index)),
        }
    }

    pub(super) fn variable(&self, variable: u32) -> &Variable {
        &self.variables[variable as usize]
    }

    /// Bytes of memory, a power of two as engines want it.
    pub(super) fn memory(&self) -> usize {
        (self.words as usize * WORD).next_power_of_two().max(WORD)
    }
}

/// The values of a program's variables.
#[derive(Clone, Debug)]
pub struct VarTable {
    pub(super) layout: Arc<Layout>,
    pub(super) memory: Memory,
    pub(super) texts: Vec<Text>,
}

impl VarTable {
    /// The initial values of a program's variables.
    pub fn new(layout: Arc<Layout>) -> VarTable {
        let memory = Memory::new(layout.memory());
        let texts = alloc::vec![Text::default(); layout.texts as usize];
        let mut table = VarTable { layout, memory, texts };
        let layout = table.layout.clone();
        for (number, variable) in layout.variables.iter().enumerate() {
            let Travels::Not(value) = &variable.travels else { continue };
            if *value == Value::initial(variable.ty) {
                continue;
            }
            for index in 0..variable.count() {
                table.put(layout.cell(number as u32, index), value.clone());
            }
        }
        table
    }

    /// The same, for a program that is only sent.
    pub fn of(program: &Program) -> Result<VarTable, Refusal> {
        let layout = Layout::of(program).ok_or("its variables take more memory than there is")?;
        Ok(VarTable::new(Arc::new(layout)))
    }

    /// The value of a variable, or of an element of an array.
    pub fn get(&self, variable: u32, index: u32) -> Option<Value> {
        get(&self.layout, &self.memory, &self.texts, variable, index)
    }

    /// Gives a variable another value, or an element of an array.
    pub fn set(&mut self, variable: u32, index: u32, value: Value) -> Result<(), Refusal> {
        let cell = self.layout.find(variable, index, value.ty())?;
        self.put(cell, value);
        Ok(())
    }

    fn put(&mut self, cell: Cell, value: Value) {
        match value {
            Value::Text(text) => self.texts[cell.place] = text,
            other => set_word(&mut self.memory, cell.place, other.word()),
        }
    }

    /// The values that go to the server, as XDR, in the order of the variables.
    pub fn encode_in(&self) -> Vec<u8> {
        self.encode(Variable::travels_in)
    }

    /// The values that come back.
    pub fn encode_out(&self) -> Vec<u8> {
        self.encode(Variable::travels_out)
    }

    /// Takes the values that go to the server. The error says what is wrong with the bytes.
    pub fn decode_in(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.decode(bytes, Variable::travels_in)
    }

    /// Takes the values that come back.
    pub fn decode_out(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.decode(bytes, Variable::travels_out)
    }

    fn encode(&self, which: fn(&Variable) -> bool) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&self.layout, &self.memory, &self.texts, which, &mut out);
        out
    }

    fn decode(&mut self, bytes: &[u8], which: fn(&Variable) -> bool) -> Result<(), Refusal> {
        let mut reader = Reader::new(bytes);
        let layout = self.layout.clone();
        for (number, variable) in layout.variables.iter().enumerate().filter(|(_, it)| which(it)) {
            let in_table = |what: String| format!("variable {number} of the table: {what}");
            for index in 0..variable.count() {
                let value = read_value(&mut reader, variable.ty).map_err(in_table)?;
                self.put(layout.cell(number as u32, index), value);
            }
        }
        reader.end().map_err(|what| format!("the table doesn't fit the program's variables: {what}").into())
    }
}

/// The value of an element, if it exists.
pub(super) fn get(
    layout: &Layout,
    memory: &Memory,
    texts: &[Text],
    variable: u32,
    index: u32,
) -> Option<Value> {
    layout.variables.get(variable as usize).filter(|it| index < it.count())?;
    let cell = layout.cell(variable, index);
    Some(match cell.ty {
        Type::Text => Value::Text(texts[cell.place].clone()),
        ty => Value::of_word(ty, word(memory, cell.place)),
    })
}

/// Appends the values of some variables as XDR.
pub(super) fn encode(
    layout: &Layout,
    memory: &Memory,
    texts: &[Text],
    which: fn(&Variable) -> bool,
    out: &mut Vec<u8>,
) {
    for (number, variable) in layout.variables.iter().enumerate().filter(|(_, it)| which(it)) {
        for cell in (0..variable.count()).map(|index| layout.cell(number as u32, index)) {
            match cell.ty {
                Type::Text => put_opaque(out, &texts[cell.place]),
                ty => put_word(out, ty, word(memory, cell.place)),
            }
        }
    }
}

pub(super) fn word(memory: &Memory, index: usize) -> u64 {
    let bytes = memory.own()[index * WORD..].first_chunk().expect("words lie within the memory");
    u64::from_ne_bytes(*bytes)
}

pub(super) fn set_word(memory: &mut Memory, index: usize, word: u64) {
    let bytes = memory.own_mut()[index * WORD..].first_chunk_mut().expect("words lie within the memory");
    *bytes = word.to_ne_bytes();
}

/// A value that isn't a TEXT.
pub(super) fn put_word(out: &mut Vec<u8>, ty: Type, word: u64) {
    match Value::of_word(ty, word) {
        value @ (Value::Boolean(_) | Value::Character(_)) => put_u32(out, value.word() as u32),
        value => put_u64(out, value.word()),
    }
}

pub(super) fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Text(text) => put_opaque(out, text),
        other => put_word(out, other.ty(), other.word()),
    }
}

/// A value, as messages are encoded.
pub(super) fn read_value(reader: &mut Reader<'_>, ty: Type) -> Result<Value, String> {
    Ok(match ty {
        Type::Boolean => match reader.word("a BOOLEAN")? {
            word @ 0..=1 => Value::Boolean(word == 1),
            _ => return Err("a BOOLEAN is neither 0 nor 1".into()),
        },
        Type::Character => match u8::try_from(reader.word("a CHARACTER")?) {
            Ok(byte) => Value::Character(byte),
            Err(_) => return Err("a CHARACTER is above 255".into()),
        },
        Type::Integer => Value::Integer(reader.hyper("an INTEGER")? as i64),
        Type::Real => Value::Real(f64::from_bits(reader.hyper("a REAL")?)),
        Type::Text => Value::Text(reader.opaque("a TEXT")?.into()),
        Type::Component | Type::Sequence => return Err(format!("{ty} is no value of a variable")),
    })
}
