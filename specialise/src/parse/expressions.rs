//! Constant expressions that can't be folded, such as comparisons of addresses that the linker chooses. Each becomes an
//! instruction before the instruction that mentions it.

use super::constants::{DEPTH, binary, cast};
use super::cursor::{Cursor, Kind, Parsed};
use super::instructions::{FLAGS, compare, truth};
use super::reader::Reader;
use crate::ir::{Instruction, Op, Operand, Type};

impl Reader<'_> {
    /// Reads a constant of a type, or inserts instructions that compute it.
    pub(super) fn constant(&mut self, ty: &Type, depth: u32) -> Parsed<Operand> {
        let at = self.cursor;
        let failed = match self.constants.read(&mut self.cursor, ty) {
            Ok(constant) => return Ok(Operand::Const(constant)),
            Err(failed) => failed,
        };
        self.cursor = at;
        if !matches!(failed.kind, Kind::Unsupported) || depth >= DEPTH {
            return Err(failed);
        }
        let Some((found, op)) = self.expression(depth + 1)? else { return Err(failed) };
        if found != *ty {
            return Err(at.wrong("a constant of another type is expected"));
        }
        self.insert(&at, found, op)
    }

    /// Reads the operation of an expression, if it can be an instruction.
    fn expression(&mut self, depth: u32) -> Parsed<Option<(Type, Op)>> {
        let word = self.cursor.word()?;
        self.cursor.skip_words(&FLAGS);
        if let Some(operation) = binary(word) {
            let (ty, left, right) = self.pair(depth)?;
            return Ok(Some((ty, Op::Binary(operation, left, right))));
        }
        if let Some(cast) = cast(word) {
            self.cursor.expect('(')?;
            let (_, from) = self.part(depth)?;
            self.cursor.expect_word("to")?;
            let to = self.ty()?;
            self.cursor.expect(')')?;
            return Ok(Some((to, Op::Cast(cast, from))));
        }
        if word == "icmp" {
            let at = self.cursor;
            let relation = self.cursor.word()?;
            let relation =
                compare(relation).ok_or_else(|| at.wrong(format!("`{relation}` compares nothing")))?;
            let (ty, left, right) = self.pair(depth)?;
            return Ok(Some((truth(&ty), Op::Compare(relation, left, right))));
        }
        if word == "select" {
            self.cursor.expect('(')?;
            let (_, condition) = self.part(depth)?;
            self.comma()?;
            let (ty, yes) = self.part(depth)?;
            self.comma()?;
            let no = self.part_of(&ty, depth)?;
            self.cursor.expect(')')?;
            return Ok(Some((ty, Op::Select(condition, yes, no))));
        }
        Ok(None)
    }

    /// Reads two values of the same type in parentheses.
    fn pair(&mut self, depth: u32) -> Parsed<(Type, Operand, Operand)> {
        self.cursor.expect('(')?;
        let (ty, left) = self.part(depth)?;
        self.comma()?;
        let right = self.part_of(&ty, depth)?;
        self.cursor.expect(')')?;
        Ok((ty, left, right))
    }

    /// Reads a type, which must be the expected one, and a value of that type.
    fn part_of(&mut self, expected: &Type, depth: u32) -> Parsed<Operand> {
        let at = self.cursor;
        let (ty, operand) = self.part(depth)?;
        if ty == *expected { Ok(operand) } else { Err(at.wrong("another type is expected")) }
    }

    fn part(&mut self, depth: u32) -> Parsed<(Type, Operand)> {
        let ty = self.ty()?;
        let operand = self.constant(&ty, depth)?;
        Ok((ty, operand))
    }

    /// Adds an instruction that isn't in the text.
    fn insert(&mut self, at: &Cursor, ty: Type, op: Op) -> Parsed<Operand> {
        self.count(at, op.operands().count())?;
        let result = self.values.insert(ty.clone());
        self.open.get_or_insert_default().push(Instruction { result: Some(result), ty, op, place: None });
        Ok(Operand::Value(result))
    }
}
