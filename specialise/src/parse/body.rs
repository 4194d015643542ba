//! The body of a function: blocks of instructions.

use super::calls;
use super::check;
use super::constants::{Constants, Mention};
use super::cursor::{Cursor, Fail, Parsed};
use super::instructions;
use super::lexer::Token;
use super::unread::Scope;
use super::values::Values;
use crate::ir::{Block, BlockId, Body, Function, Instruction, Op, Operand, PlaceId, Terminator, Type};

/// What an instruction takes, with its result's name and type, in lists that grow.
const INSTRUCTION_BYTES: u64 = 320;

/// What an operand of it or a way on takes.
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
    let whole = |what| Fail { at: start, ..cursor.wrong(what) };
    values.settle(&mut body).map_err(whole)?;
    check::body(&body).map_err(whole)?;
    Ok(body)
}

/// What a line of a body came to.
pub(super) enum Line {
    /// An instruction, and the type of its result.
    Op(Type, Op),
    /// The end of a block.
    End(Terminator),
    /// Something that only a debugger or an optimiser reads.
    Nothing,
}

/// What stands behind an instruction.
#[derive(Default)]
pub(super) struct Trailing {
    pub(super) align: Option<u64>,
    place: Option<PlaceId>,
}

pub(super) struct Reader<'f> {
    pub(super) cursor: Cursor<'f>,
    pub(super) scope: &'f Scope,
    pub(super) constants: Constants<'f>,
    pub(super) values: Values<'f>,
    /// The type of what the function gives.
    pub(super) result: &'f Type,
    body: Body,
    /// The instructions of the block that has not ended yet.
    open: Option<Vec<Instruction>>,
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

    /// Counts an instruction or the end of a block.
    fn count(&self, at: &Cursor, links: usize) -> Parsed<()> {
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

    /// A failure without a place happened here.
    pub(super) fn judge<T>(&self, found: Result<T, String>) -> Parsed<T> {
        found.map_err(|what| self.cursor.wrong(what))
    }

    /// The type that stands here.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.constants.types.read(&mut self.cursor)
    }

    /// A value of a type.
    pub(super) fn operand(&mut self, ty: &Type) -> Parsed<Operand> {
        if let Token::Local(name) = self.cursor.token() {
            let value = self.values.mention(name, ty);
            let value = self.judge(value)?;
            self.cursor.advance();
            return Ok(Operand::Value(value));
        }
        Ok(Operand::Const(self.constants.read(&mut self.cursor, ty)?))
    }

    /// A type and a value of it.
    pub(super) fn typed(&mut self) -> Parsed<(Type, Operand)> {
        let ty = self.ty()?;
        let operand = self.operand(&ty)?;
        Ok((ty, operand))
    }

    /// A type, which must be a certain one, and a value of it.
    pub(super) fn same(&mut self, expected: &Type) -> Parsed<Operand> {
        let at = self.cursor;
        let (ty, operand) = self.typed()?;
        if ty == *expected { Ok(operand) } else { Err(at.wrong("another type is expected")) }
    }

    /// `ptr` and a value.
    pub(super) fn pointer(&mut self) -> Parsed<Operand> {
        self.same(&Type::Ptr)
    }

    /// `label %name`
    pub(super) fn label(&mut self) -> Parsed<BlockId> {
        self.cursor.expect_word("label")?;
        self.block()
    }

    /// `%name` of a block.
    pub(super) fn block(&mut self) -> Parsed<BlockId> {
        let Token::Local(name) = self.cursor.token() else {
            return Err(self.cursor.wrong("the name of a block is expected"));
        };
        let block = self.values.block(name);
        let block = self.judge(block)?;
        self.cursor.advance();
        Ok(block)
    }

    pub(super) fn comma(&mut self) -> Parsed<()> {
        self.cursor.expect(',')
    }

    /// Goes over a comma if something other than alignment or metadata follows.
    pub(super) fn more(&mut self) -> bool {
        self.cursor.token() == Token::Mark(',')
            && !matches!(self.cursor.second(), Token::Metadata(_) | Token::Word("align" | "addrspace"))
            && self.cursor.take(',')
    }

    /// Alignment and metadata behind an instruction.
    pub(super) fn trailing(&mut self) -> Parsed<Trailing> {
        let mut found = Trailing::default();
        while self.cursor.take(',') {
            match self.cursor.advance() {
                Token::Word("align") => found.align = Some(self.cursor.alignment()?),
                Token::Metadata(kind) => {
                    if let Token::Metadata(value) = self.cursor.advance() {
                        if kind == "dbg"
                            && let Ok(number) = value.parse()
                        {
                            found.place = self.scope.place(number);
                        }
                        if let Token::Mark('(' | '{') = self.cursor.token() {
                            self.cursor.skip_brackets();
                        }
                    }
                }
                Token::Word("addrspace") => {
                    return Err(self.cursor.unsupported("pointers to other address spaces"));
                }
                _ => return Err(self.cursor.wrong("alignment or metadata is expected behind a comma")),
            }
        }
        Ok(found)
    }
}
