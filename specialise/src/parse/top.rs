//! The top level of a file: its definitions and declarations, and the position of each in the text.

use super::attributes;
use super::constants::{Constants, Mention, Symbol, Symbols};
use super::cursor::{Cursor, Fail, Kind, Parsed};
use super::headers::{self, Header};
use super::lexer::{Lexer, Token, plain, statement_end};
use super::numbered::Numbered;
use super::scope::{File, Scope};
use super::types::Types;
use super::unread::UnreadBody;
use crate::account::Room;
use crate::ir::{Code, Const, FunctionId, Global, GlobalId, Module, Type, Unread};
use std::collections::HashMap;
use std::rc::Rc;

/// The positions of statements that are read after all names are known.
#[derive(Default)]
struct Statements {
    functions: Vec<usize>,
    variables: Vec<usize>,
}

/// A variable, an alias, or a global that can't be expressed: its name, and the words before its type.
pub(super) struct Variable<'t> {
    pub(super) name: Rc<str>,
    pub(super) header: Header,
    kind: &'t str,
    /// The position of its type.
    pub(super) cursor: Cursor<'t>,
}

pub(super) fn read(text: &str, name: &str, memory: u64) -> Parsed<Module> {
    let room = Room::within(memory);
    room.take(2 * text.len() as u64).map_err(|what| Fail { at: 0, what, kind: Kind::Wrong })?;
    let text: Rc<str> = text.into();
    let mut file = File {
        name: name.into(),
        text: text.clone(),
        types: Types::new(text.clone()),
        groups: HashMap::new(),
        metadata: Numbered::default(),
        room,
    };
    let statements = statements(&text, &mut file)?;
    let mut reader = Reader {
        types: &file.types,
        room: &file.room,
        module: Module { name: name.into(), ..Module::default() },
        symbols: Symbols::new(),
        // This module flag results from `-fsemantic-interposition`.
        preempted: text.contains("!\"SemanticInterposition\", i32 1}"),
    };
    let bodies = reader.functions(&text, &file, &statements.functions)?;
    reader.variables(&text, &statements.variables)?;
    let Reader { mut module, symbols, .. } = reader;
    let scope = Rc::new(Scope::new(Rc::new(file), symbols, module.places.clone()));
    for (function, start) in bodies {
        let body = UnreadBody { scope: scope.clone(), start };
        module.functions[function].code = Code::Unread(Unread::new(body));
    }
    Ok(module)
}

fn statements(text: &str, file: &mut File) -> Parsed<Statements> {
    let mut found = Statements::default();
    let mut lexer = Lexer::new(text, 0);
    loop {
        lexer.skip_blank();
        let start = lexer.at();
        let Some(first) = text.as_bytes().get(start) else { break };
        match first {
            b'@' => found.variables.push(start),
            b'd' => found.functions.push(start),
            // Most lines of a file with debug information are metadata, so these need no cursor.
            b'!' => metadata(text, start, &mut file.metadata),
            b'$' | b'^' => {}
            _ => statement(&mut Cursor::new(text, start), file)?,
        }
        lexer = Lexer::new(text, statement_end(text, start));
    }
    file.metadata.settle();
    Ok(found)
}

fn metadata(text: &str, start: usize, numbered: &mut Numbered) {
    let rest = &text[start + 1..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if let Ok(number) = rest[..digits].parse()
        && let Some(after) = rest[digits..].strip_prefix(" = ")
    {
        numbered.add(number, text.len() - after.len());
    }
}

fn statement(cursor: &mut Cursor, file: &mut File) -> Parsed<()> {
    match cursor.advance() {
        Token::Local(name) => {
            let name = plain(name).into();
            cursor.expect('=')?;
            let start = cursor.at();
            let Token::Word("type") = cursor.token() else { return Err(cursor.wrong("`type` is expected")) };
            file.types.declare(name, start + "type".len());
        }
        Token::Word("target") => target(cursor)?,
        Token::Word("attributes") => {
            let Token::Group(number) = cursor.advance() else {
                return Err(cursor.wrong("the number of a group is expected"));
            };
            cursor.expect('=')?;
            file.groups.insert(number, attributes::group(cursor)?);
        }
        // Assembly between functions is ignored: it stays in the object file of the source.
        Token::Word("source_filename" | "module" | "uselistorder" | "uselistorder_bb") => {}
        _ => {
            let what = "this is no statement of LLVM IR text (`clang -O1 -emit-llvm -S` writes it)";
            return Err(cursor.wrong(what));
        }
    }
    Ok(())
}

fn target(cursor: &mut Cursor) -> Parsed<()> {
    let what = cursor.word()?;
    cursor.expect('=')?;
    let Token::Text(value) = cursor.token() else { return Err(cursor.wrong("a string is expected")) };
    let known = match what {
        "datalayout" => {
            value.split('-').any(|part| part == "e") && value.split('-').any(|part| part == "m:e")
        }
        "triple" => value.starts_with("x86_64") && !value.ends_with("x32"),
        _ => return Err(cursor.wrong("`datalayout` or `triple` is expected")),
    };
    if known { Ok(()) } else { Err(cursor.unsupported("only x86-64 with ELF is known; compile for that")) }
}

pub(super) struct Reader<'f> {
    pub(super) types: &'f Types,
    room: &'f Room,
    pub(super) module: Module,
    pub(super) symbols: Symbols,
    /// Whether another shared object's definition may take the place of an exported one.
    preempted: bool,
}

impl Reader<'_> {
    /// Reads all functions. The result is those with bodies, and where each body begins.
    fn functions(&mut self, text: &str, file: &File, starts: &[usize]) -> Parsed<Vec<(usize, usize)>> {
        let mut bodies = Vec::new();
        for start in starts {
            let mut cursor = Cursor::new(text, *start);
            let found = headers::function(&mut cursor, self.types, &file.groups)?;
            let name = found.function.name.clone();
            // Intrinsics that inform debuggers have no address, and no declaration that could be printed.
            let trouble = found.header.trouble.clone();
            let slot = trouble.is_none() || !name.starts_with("llvm.");
            let value = slot.then_some(Const::Function(FunctionId(self.module.functions.len() as u32)));
            self.name(&cursor, &name, Symbol { value, trouble: trouble.clone() })?;
            if !slot {
                continue;
            }
            self.note_linkage(&name, &found.header);
            if let (Some(body), None) = (found.body, trouble) {
                bodies.push((self.module.functions.len(), body));
            }
            self.module.functions.push(found.function);
        }
        Ok(bodies)
    }

    fn note_linkage(&mut self, name: &Rc<str>, header: &Header) {
        if header.weak {
            self.module.weak.insert(name.clone());
        }
        if header.is_replaceable(self.preempted) {
            self.module.replaceable.insert(name.clone());
        }
    }

    pub(super) fn name(&mut self, cursor: &Cursor, name: &Rc<str>, symbol: Symbol) -> Parsed<()> {
        match self.symbols.insert(name.clone(), symbol) {
            None => Ok(()),
            Some(_) => Err(cursor.wrong(format!("`@{name}` is there twice"))),
        }
    }

    /// Reads all variables and aliases.
    fn variables(&mut self, text: &str, starts: &[usize]) -> Parsed<()> {
        let (mut variables, mut aliases) = (Vec::new(), Vec::new());
        for start in starts {
            let found = variable(text, *start)?;
            let mut symbol = Symbol { value: None, trouble: found.header.trouble.clone() };
            self.note_linkage(&found.name, &found.header);
            match found.kind {
                "alias" => aliases.push(found),
                "ifunc" => {
                    symbol.trouble = Some("what it names is chosen when the program is loaded".into());
                    self.name(&found.cursor, &found.name, symbol)?;
                }
                _ => {
                    symbol.value = Some(Const::Global(GlobalId(variables.len() as u32), 0));
                    self.name(&found.cursor, &found.name, symbol)?;
                    variables.push(found);
                }
            }
        }
        let stand_ins = self.aliases(aliases, &variables)?;
        for found in variables {
            self.variable(found)?;
        }
        self.module.globals.extend(stand_ins);
        Ok(())
    }

    fn variable(&mut self, found: Variable) -> Parsed<()> {
        let Variable { name, header, kind, mut cursor } = found;
        let read = match header.trouble {
            Some(_) => Err(cursor.unsupported("")),
            None => self.content(&mut cursor, &header),
        };
        let (ty, initial, align) = match read {
            Ok(read) => read,
            Err(fail) if fail.kind == Kind::Wrong => return Err(fail),
            Err(fail) => {
                let symbol = self.symbols.get_mut(&name).expect("named before");
                symbol.trouble.get_or_insert(fail.what.into());
                (Type::Array(0, Rc::new(Type::Int(8))), None, 1)
            }
        };
        self.module.globals.push(Global {
            name,
            ty,
            initial,
            constant: kind == "constant",
            internal: header.internal,
            thread_local: header.thread_local,
            align,
        });
        Ok(())
    }

    pub(super) fn constants(&self) -> Constants<'_> {
        Constants { types: self.types, symbols: &self.symbols, mention: Mention::Address, room: self.room }
    }

    /// Reads a variable's type, initial value and alignment.
    fn content(&self, cursor: &mut Cursor, header: &Header) -> Parsed<(Type, Option<Const>, u64)> {
        let ty = self.types.read(cursor)?;
        let initial = match header.declaration {
            true => None,
            false => Some(self.constants().read(cursor, &ty)?),
        };
        let mut align = ty.layout().align;
        while cursor.take(',') {
            match cursor.advance() {
                Token::Word("align") => align = cursor.alignment()?,
                Token::Metadata(_) | Token::Word("section" | "partition" | "code_model") => {
                    cursor.advance();
                }
                Token::Word(_) => cursor.skip_brackets(),
                _ => return Err(cursor.wrong("what else is said about a variable is expected")),
            }
        }
        Ok((ty, initial, align))
    }
}

fn variable(text: &str, start: usize) -> Parsed<Variable<'_>> {
    let mut cursor = Cursor::new(text, start);
    let Token::Global(name) = cursor.advance() else { return Err(cursor.wrong("a name is expected")) };
    let name = plain(name).into();
    cursor.expect('=')?;
    let header = headers::linkage(&mut cursor)?;
    let kind = cursor.word()?;
    if !matches!(kind, "global" | "constant" | "alias" | "ifunc") {
        return Err(cursor.wrong("`global`, `constant` or `alias` is expected"));
    }
    Ok(Variable { name, header, kind, cursor })
}
