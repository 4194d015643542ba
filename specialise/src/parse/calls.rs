//! Calls.

use super::attributes::{self, Found, Said};
use super::cursor::Parsed;
use super::headers;
use super::lexer::{Token, plain};
use super::reader::{Line, Reader, Trailing};
use crate::ir::{CallAttributes, Op, Operand, ParamAttributes, Type};
use std::rc::Rc;

/// Reads a call, if the word begins one.
pub(super) fn read(reader: &mut Reader, word: &str) -> Parsed<Option<(Line, Trailing)>> {
    match word {
        "call" => {}
        // A tail call frees the caller's frame first, which no other code can observe.
        "tail" | "musttail" | "notail" => reader.cursor.expect_word("call")?,
        _ => return Ok(None),
    }
    let line = call(reader)?;
    Ok(Some((line, reader.trailing()?)))
}

fn call(reader: &mut Reader) -> Parsed<Line> {
    let at = reader.cursor;
    reader.cursor.skip_words(&["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"]);
    headers::convention(&mut reader.cursor)?;
    attributes::parameter(&mut reader.cursor, reader.constants.types)?;
    let ty = reader.ty()?;
    let variadic = function_type(reader)?;
    if let Token::Word("asm") = reader.cursor.token() {
        return Err(at.unsupported("inline assembly"));
    }
    if let Token::Global(name) = reader.cursor.token()
        && only_for_tools(&plain(name))
    {
        reader.cursor.advance();
        reader.cursor.skip_brackets();
        Said::default().attributes(reader)?;
        return Ok(Line::Nothing);
    }
    let callee = reader.operand(&Type::Ptr)?;
    let (args, params) = arguments(reader)?;
    let mut said = Said::default();
    said.attributes(reader)?;
    if reader.cursor.token() == Token::Mark('[') {
        // Assumptions about operands may be left out. Any other operand bundle changes the call.
        if !is_assumption(reader, &callee) {
            return Err(reader.cursor.unsupported("a call with operand bundles"));
        }
        reader.cursor.skip_brackets();
        return Ok(Line::Nothing);
    }
    let attributes = Rc::new(CallAttributes { params, memory: said.memory, noreturn: said.noreturn });
    Ok(Line::Op(ty, Op::Call { callee, args, variadic, attributes }))
}

impl Said {
    fn attributes(&mut self, reader: &mut Reader) -> Parsed<()> {
        while self.attribute(&mut reader.cursor, &reader.scope.file.groups)? == Found::One {}
        Ok(())
    }
}

/// Whether a function only informs debuggers or the optimiser, and does nothing.
fn only_for_tools(name: &str) -> bool {
    name.starts_with("llvm.dbg.") || name == "llvm.experimental.noalias.scope.decl"
}

fn is_assumption(reader: &Reader, callee: &Operand) -> bool {
    let assume = reader.scope.symbols.get("llvm.assume").and_then(|symbol| symbol.value.as_ref());
    matches!((callee, assume), (Operand::Const(callee), Some(assume)) if callee == assume)
}

/// `(ptr, ...)` after the result's type: the number of named parameters of a variadic function.
fn function_type(reader: &mut Reader) -> Parsed<Option<usize>> {
    if !reader.cursor.take('(') {
        return Ok(None);
    }
    let mut named = 0;
    if reader.cursor.take(')') {
        return Ok(None);
    }
    loop {
        if reader.cursor.token() == Token::Ellipsis {
            reader.cursor.advance();
            reader.cursor.expect(')')?;
            return Ok(Some(named));
        }
        reader.ty()?;
        named += 1;
        if reader.cursor.take(')') {
            return Ok(None);
        }
        reader.comma()?;
    }
}

fn arguments(reader: &mut Reader) -> Parsed<(Vec<Operand>, Vec<ParamAttributes>)> {
    let (mut args, mut said) = (Vec::new(), Vec::new());
    reader.cursor.expect('(')?;
    if reader.cursor.take(')') {
        return Ok((args, said));
    }
    loop {
        if reader.cursor.token() == Token::Word("metadata") {
            return Err(reader.cursor.unsupported("a call that is given metadata"));
        }
        let ty = reader.ty()?;
        said.push(attributes::parameter(&mut reader.cursor, reader.constants.types)?);
        args.push(reader.operand(&ty)?);
        if reader.cursor.take(')') {
            break;
        }
        reader.comma()?;
    }
    Ok((args, said))
}
