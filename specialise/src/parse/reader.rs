//! The state of reading a body, and functions for the parts of its lines: types, values, labels, attachments at the
//! end.

use super::constants::Constants;
use super::cursor::{Cursor, Parsed};
use super::lexer::Token;
use super::scope::Scope;
use super::values::Values;
use crate::ir::{BlockId, Body, Instruction, Op, Operand, PlaceId, Terminator, Type};

/// The content of a line of a body.
pub(super) enum Line {
    /// An instruction, and the type of its result.
    Op(Type, Op),
    /// The end of a block.
    End(Terminator),
    /// Something that only matters to a debugger or an optimiser.
    Nothing,
}

/// The alignment and metadata after an instruction.
#[derive(Default)]
pub(super) struct Trailing {
    pub(super) align: Option<u64>,
    pub(super) place: Option<PlaceId>,
}

/// Reads the body of a function.
pub(super) struct Reader<'f> {
    pub(super) cursor: Cursor<'f>,
    pub(super) scope: &'f Scope,
    pub(super) constants: Constants<'f>,
    pub(super) values: Values<'f>,
    /// The result type of the function.
    pub(super) result: &'f Type,
    pub(super) body: Body,
    /// The instructions of the current block, which has not ended.
    pub(super) open: Option<Vec<Instruction>>,
}

impl Reader<'_> {
    /// Adds the current place to a failure.
    pub(super) fn judge<T>(&self, found: Result<T, String>) -> Parsed<T> {
        found.map_err(|what| self.cursor.wrong(what))
    }

    /// Reads a type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.constants.types.read(&mut self.cursor)
    }

    /// Reads a value of a type. An expression that is no constant becomes instructions before the current one.
    pub(super) fn operand(&mut self, ty: &Type) -> Parsed<Operand> {
        if let Token::Local(name) = self.cursor.token() {
            let value = self.values.mention(name, ty);
            let value = self.judge(value)?;
            self.cursor.advance();
            return Ok(Operand::Value(value));
        }
        self.constant(ty, 0)
    }

    /// Reads a type and a value of that type.
    pub(super) fn typed(&mut self) -> Parsed<(Type, Operand)> {
        let ty = self.ty()?;
        let operand = self.operand(&ty)?;
        Ok((ty, operand))
    }

    /// Reads a type, which must be the expected one, and a value of that type.
    pub(super) fn same(&mut self, expected: &Type) -> Parsed<Operand> {
        let at = self.cursor;
        let (ty, operand) = self.typed()?;
        if ty == *expected { Ok(operand) } else { Err(at.wrong("another type is expected")) }
    }

    /// Reads `ptr` and a value.
    pub(super) fn pointer(&mut self) -> Parsed<Operand> {
        self.same(&Type::Ptr)
    }

    /// Reads `label %name`.
    pub(super) fn label(&mut self) -> Parsed<BlockId> {
        self.cursor.expect_word("label")?;
        self.block()
    }

    /// Reads the `%name` of a block.
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

    /// Skips a comma, if something other than alignment or metadata follows it.
    pub(super) fn more(&mut self) -> bool {
        self.cursor.token() == Token::Mark(',')
            && !matches!(self.cursor.second(), Token::Metadata(_) | Token::Word("align" | "addrspace"))
            && self.cursor.take(',')
    }

    /// Reads the alignment and metadata after an instruction.
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
