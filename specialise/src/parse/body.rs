//! The body of a function: blocks of instructions.

use super::calls;
use super::constants::{Constants, Mention};
use super::cursor::{Cursor, Fail, Parsed};
use super::instructions;
use super::lexer::Token;
use super::reader::{Line, Reader};
use super::scope::Scope;
use super::values::Values;
use crate::ir::{Block, Body, Function, Instruction, Type};
use crate::verify;

/// Bytes of memory for an instruction, with its result's name and type, in growing lists.
const INSTRUCTION_BYTES: u64 = 320;

/// Bytes of memory for an operand of an instruction, or for an edge to another block.
const LINK_BYTES: u64 = 64;

/// Reads the body that begins here.
pub(super) fn read(function: &Function, scope: &Scope, start: usize) -> Parsed<Body> {
    let text = &*scope.file.text;
    let length = super::lexer::statement_end(text, start) - start;
    let constants = Constants {
        types: &scope.file.types,
        symbols: &scope.symbols,
        mention: Mention::Use,
        room: &scope.file.room,
    };
    let mut reader = Reader {
        cursor: Cursor::new(text, start),
        scope,
        constants,
        values: Values::new(length),
        result: &function.result,
        body: Body::default(),
        open: None,
    };
    for param in &function.params {
        let defined = reader.values.parameter(param.name.as_ref(), param.ty.clone());
        reader.judge(defined)?;
    }
    reader.blocks()?;
    let Reader { values, mut body, cursor, .. } = reader;
    let whole = |what: &str| Fail { at: start, ..cursor.wrong(what) };
    values.settle(&mut body).map_err(|what| whole(&what))?;
    verify::body(function, &body).map_err(|fault| whole(&fault.to_string()))?;
    Ok(body)
}

impl<'f> Reader<'f> {
    fn blocks(&mut self) -> Parsed<()> {
        self.cursor.expect('{')?;
        loop {
            match self.cursor.token() {
                Token::Mark('}') if self.open.is_some() => {
                    return Err(self.cursor.wrong("the last block has no end"));
                }
                Token::Mark('}') if self.body.blocks.is_empty() => {
                    return Err(self.cursor.wrong("a function has at least one block"));
                }
                Token::Mark('}') => return Ok(()),
                Token::Label(label) => {
                    if self.open.is_some() {
                        return Err(self.cursor.wrong("the block before has no end"));
                    }
                    self.begin(Some(label))?;
                    self.cursor.advance();
                }
                Token::Record => {
                    self.cursor.advance();
                    self.cursor.skip_brackets();
                }
                _ => self.line()?,
            }
        }
    }

    fn begin(&mut self, label: Option<&'f str>) -> Parsed<()> {
        let placed = self.values.place(label);
        self.judge(placed)?;
        self.open = Some(Vec::new());
        Ok(())
    }

    /// Counts the memory of an instruction or a terminator.
    pub(super) fn count(&self, at: &Cursor, links: usize) -> Parsed<()> {
        let bytes = INSTRUCTION_BYTES + LINK_BYTES * links as u64;
        self.constants.room.take(bytes).map_err(|what| at.wrong(what))
    }

    fn line(&mut self) -> Parsed<()> {
        if self.open.is_none() {
            self.begin(None)?;
        }
        let mut name = None;
        let at = self.cursor;
        if let Token::Local(spelling) = self.cursor.token() {
            name = Some(spelling);
            self.cursor.advance();
            self.cursor.expect('=')?;
        }
        let word = self.cursor.word()?;
        let (line, trailing) = match calls::read(self, word)? {
            Some(found) => found,
            None => instructions::read(self, word, at)?,
        };
        let place = trailing.place;
        match line {
            Line::Nothing => {}
            Line::Op(ty, op) => {
                let result = match (&ty, name) {
                    (Type::Void, None) => None,
                    (Type::Void, Some(_)) => {
                        return Err(at.wrong("this gives nothing that could have a name"));
                    }
                    _ => Some(self.values.define(name, ty.clone()).map_err(|what| at.wrong(what))?),
                };
                self.count(&at, op.operands().count())?;
                self.open.get_or_insert_default().push(Instruction { result, ty, op, place });
            }
            Line::End(terminator) => {
                self.count(&at, terminator.successors().count())?;
                let instructions = self.open.take().unwrap_or_default();
                let comment = String::new();
                self.body.blocks.push(Block { instructions, terminator, place, comment });
            }
        }
        Ok(())
    }
}
