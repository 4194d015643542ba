//! Reads MIR back, for tests. What cannot be read is an [`Error`] with its line; whether what was read makes sense is
//! for the verifier to say.

mod cursor;
mod instructions;
mod names;

use std::fmt;

use drystone_component::Kind;
use drystone_language::program::ProcedureId;

use self::cursor::Cursor;
use self::instructions::Line;
use super::{Head, Heads, Names};
use crate::mir::*;
use crate::segments::Cut;

/// What a text holds.
#[derive(Debug, Default)]
pub struct Module {
    /// Bodies, then procedure variants.
    pub pieces: Vec<(Code, Heads)>,
    /// What they refer to.
    pub names: Names,
}

impl Module {
    /// How many of its pieces are bodies.
    pub fn bodies(&self) -> usize {
        self.names.bodies
    }

    /// The code of its pieces.
    pub fn codes(&self) -> Vec<Code> {
        self.pieces.iter().map(|(code, _)| code.clone()).collect()
    }

    /// Its pieces as they were cut.
    pub fn cuts(&self) -> Vec<Cut> {
        self.pieces.iter().map(|(code, heads)| Cut::of_heads(code.clone(), heads)).collect()
    }

    /// The text that it was read from, but for comments.
    pub fn print(&self) -> String {
        super::print_all(self.pieces.iter().map(|(code, heads)| (code, heads.clone())), &self.names)
    }
}

/// What is wrong in a text, and where.
#[derive(Debug, PartialEq)]
pub struct Error {
    /// From 1.
    line: usize,
    what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// What is read, or what is wrong in this line.
type Read<T> = Result<T, String>;

/// Reads bodies and procedures. Empty lines are skipped, and comments: lines that begin with `;`.
pub fn parse(text: &str) -> Result<Module, Error> {
    let mut parser = Parser::default();
    parser.names.bodies = text.lines().filter(|line| line.starts_with("body ")).count();
    let mut last = 1;
    for (index, line) in text.lines().enumerate() {
        last = index + 1;
        if !line.trim().is_empty() && !line.starts_with(';') {
            parser.line(line).map_err(|what| Error { line: last, what })?;
        }
    }
    parser.end_piece().map_err(|what| Error { line: last, what })?;
    Ok(Module { pieces: parser.pieces, names: parser.names })
}

#[derive(Default)]
struct Parser {
    pieces: Vec<(Code, Heads)>,
    names: Names,
    piece: Option<Piece>,
}

/// A body or procedure that is being read.
struct Piece {
    code: Code,
    heads: Heads,
    /// For each block, whether it was there.
    labelled: Vec<bool>,
    /// The next block is that of FINALLY.
    is_finally: bool,
    /// The block that lines are read into, until its end.
    open: Option<BlockId>,
}

impl Parser {
    /// Reads a line by its indentation: none for signatures, 2 for declarations and blocks, 4 for what is in them.
    fn line(&mut self, line: &str) -> Read<()> {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        let mut cursor = Cursor::new(line);
        match indentation {
            0 => {
                self.end_piece()?;
                self.signature(&mut cursor)?;
            }
            2 => self.declaration(&mut cursor)?,
            4 => self.in_block(&mut cursor)?,
            _ => return Err(format!("it is indented by {indentation}, not by 0, 2 or 4")),
        }
        cursor.end()
    }

    fn signature(&mut self, line: &mut Cursor) -> Read<()> {
        let is_body = line.eat("body");
        if !is_body {
            line.expect("procedure")?;
        }
        let number = self.pieces.len();
        if is_body != (number < self.names.bodies) {
            return Err("bodies come before procedures".to_string());
        }
        let name = line.word()?;
        if self.names.piece(name)? != number {
            return Err(format!("{name} is piece {number}"));
        }
        let name = name.rsplit_once('$').map_or(name, |(name, _)| name);
        let mut code = Code::new(name.to_string(), false, 0, Vec::new(), Shape::default());
        code.blocks.clear();
        if !is_body {
            code.procedure = Some(ProcedureId(number as u32));
            line.expect("(")?;
            line.list_until(")", |line| {
                let reg = line.reg()?;
                code.parameters.push(reg);
                if line.eat("in") {
                    code.parameter_slots.push((reg, frame_slot(line)?));
                }
                Ok(())
            })?;
            code.result = if line.eat(":") { Some(type_named(line)?) } else { None };
            code.native = line.eat("on the stack");
        }
        line.expect("in")?;
        code.frame_size = line.number()?;
        line.expect("bytes")?;
        let (heads, labelled) = Default::default();
        self.piece = Some(Piece { code, heads, labelled, is_finally: false, open: None });
        Ok(())
    }

    /// A declaration of the piece, or the head of a block.
    fn declaration(&mut self, line: &mut Cursor) -> Read<()> {
        let piece = self.piece.as_mut().ok_or("nothing was begun")?;
        if line.is_numbered("b") {
            return piece.block(line);
        }
        if !piece.labelled.is_empty() && !line.is_next("FINALLY") {
            return Err("declarations come before blocks".to_string());
        }
        if line.is_numbered("r") {
            return piece.registers(line);
        }
        if line.eat("owns") {
            return line.list(|line| {
                let kind = kind_named(line)?;
                let variable = if line.eat("of") { Some(self.names.variable(line.word()?)) } else { None };
                line.expect("in")?;
                piece.code.owned.push(OwnedSlot { offset: frame_slot(line)?, variable, kind });
                Ok(())
            });
        }
        if line.eat("loop") {
            return piece.declared_loop(line);
        }
        if line.eat("FINALLY") {
            piece.is_finally = true;
            return Ok(());
        }
        line.list(|line| {
            let shape = &mut piece.code.shape;
            let offset = match line.word()? {
                "frames" => &mut shape.frame,
                "conditions" => &mut shape.condition,
                other => return Err(format!("nothing is declared by {other:?}")),
            };
            line.expect("at [process+")?;
            *offset = line.number()?;
            line.expect("]")
        })
    }

    /// What a block begins with, an instruction, or its end.
    fn in_block(&mut self, line: &mut Cursor) -> Read<()> {
        let piece = self.piece.as_mut().ok_or("nothing was begun")?;
        let id = piece.open.ok_or("no block is open")?;
        let block = &mut piece.code.blocks[id.0 as usize];
        match self.names.line_of_block(line)? {
            Line::Point(_) if block.suspension.is_some() || !block.instructions.is_empty() => {
                return Err("a suspension point begins its block".to_string());
            }
            Line::Point(point) => block.suspension = Some(point),
            Line::Inst(instruction) => block.instructions.push(instruction),
            Line::End(end) => {
                block.end = end;
                piece.open = None;
            }
        }
        Ok(())
    }

    fn end_piece(&mut self) -> Read<()> {
        let Some(mut piece) = self.piece.take() else { return Ok(()) };
        piece.end_block()?;
        piece.make_room_for_loops();
        self.pieces.push((piece.code, piece.heads));
        Ok(())
    }
}

impl Piece {
    fn registers(&mut self, line: &mut Cursor) -> Read<()> {
        line.list(|line| {
            let first = line.reg()?;
            let last = if line.eat("..") { line.reg()? } else { first };
            line.expect(":")?;
            let ty = type_named(line)?;
            let next = self.code.registers.len() as u32;
            if first.0 != next || last < first {
                return Err(format!("r{next} is declared next"));
            }
            self.code.registers.resize(last.0 as usize + 1, ty);
            Ok(())
        })
    }

    fn declared_loop(&mut self, line: &mut Cursor) -> Read<()> {
        let next = self.code.loops.len();
        if line.number::<usize>()? != next {
            return Err(format!("loop {next} is declared next"));
        }
        let outer = if line.eat("in loop") { Some(line.number()?) } else { None };
        line.expect(", header")?;
        let header = line.block()?;
        let mut counter = None;
        if line.eat(", counts") {
            let variable = line.reg()?;
            line.expect("from")?;
            let first = line.reg()?;
            line.expect("to")?;
            let last = line.reg()?;
            line.expect("by")?;
            let step = line.number()?;
            line.expect(", before")?;
            let before = line.block()?;
            line.expect(", next")?;
            counter = Some(Counter { variable, first, last, step, before, next: line.block()? });
        }
        let writes = line.eat(", writes");
        self.code.loops.push(Loop { outer, header, counter, writes });
        Ok(())
    }

    fn block(&mut self, line: &mut Cursor) -> Read<()> {
        self.end_block()?;
        let id = line.block()?;
        line.expect(":")?;
        self.make_room_for(id);
        if std::mem::replace(&mut self.labelled[id.0 as usize], true) {
            return Err(format!("{id} is there twice"));
        }
        self.open = Some(id);
        if std::mem::take(&mut self.is_finally) {
            self.code.finally = Some(id);
        }
        let block = &mut self.code.blocks[id.0 as usize];
        while !line.is_at_end() {
            if line.eat("in loop") {
                block.in_loop = Some(line.number()?);
            } else if line.eat("header of loop") {
                block.header_of = Some(line.number()?);
                block.in_loop = block.in_loop.or(block.header_of);
            } else if line.eat("entry") {
                block.entry = true;
            } else if line.eat("looks at the time slice") {
                block.looks = true;
            } else {
                self.heads.insert(id, head(line)?);
            }
            if !line.eat(";") {
                break;
            }
        }
        Ok(())
    }

    fn end_block(&mut self) -> Read<()> {
        match self.open.take() {
            Some(id) => Err(format!("{id} has no end")),
            None => Ok(()),
        }
    }

    /// Loops that cannot be reached still have blocks.
    fn make_room_for_loops(&mut self) {
        let unreached = |it: &&Loop| !self.labelled.get(it.header.0 as usize).is_some_and(|&there| there);
        let loops = self.code.loops.iter().filter(unreached);
        let blocks = loops.flat_map(|it| {
            let counted = it.counter.iter().flat_map(|counter| [counter.before, counter.next]);
            counted.chain([it.header])
        });
        if let Some(last) = blocks.max() {
            self.make_room_for(last);
        }
    }

    /// Makes the blocks up to this one, which nothing goes to so far.
    fn make_room_for(&mut self, id: BlockId) {
        let length = self.code.blocks.len().max(id.0 as usize + 1);
        self.code.blocks.resize(length, Block::new());
        self.labelled.resize(length, false);
    }
}

fn head(line: &mut Cursor) -> Read<Head> {
    let is_condition = line.eat("condition");
    if !is_condition {
        line.expect("segment")?;
    }
    let mut head = Head { is_condition, saved: Vec::new(), trying: Vec::new() };
    if line.eat("with") {
        line.list(|line| {
            let reg = line.reg()?;
            let slot = if line.eat("nowhere") {
                None
            } else {
                line.expect("in")?;
                Some(frame_slot(line)?)
            };
            head.saved.push((reg, slot));
            Ok(())
        })?;
    }
    if line.eat("trying") {
        line.list(|line| {
            head.trying.push(line.block()?);
            Ok(())
        })?;
    }
    Ok(head)
}

fn frame_slot(line: &mut Cursor) -> Read<u32> {
    line.expect("[frame+")?;
    let offset = line.number()?;
    line.expect("]")?;
    Ok(offset)
}

fn type_named(line: &mut Cursor) -> Read<RegType> {
    match line.word()? {
        "int" => Ok(RegType::Int),
        "real" => Ok(RegType::Real),
        other => Err(format!("{other:?} is no type")),
    }
}

fn kind_named(line: &mut Cursor) -> Read<Kind> {
    match line.word()? {
        "word" => Ok(Kind::Word),
        "byte" => Ok(Kind::Byte),
        "text" => Ok(Kind::Text),
        "component" => Ok(Kind::Component),
        "collection" => Ok(Kind::Collection),
        other => Err(format!("a frame owns no {other:?}")),
    }
}
