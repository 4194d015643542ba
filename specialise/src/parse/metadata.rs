//! Source places, from the few kinds of metadata that describe them. All other metadata is skipped.

use super::cursor::Cursor;
use super::lexer::{Token, plain};
use super::scope::{Scope, Surroundings};
use crate::ir::{Place, PlaceId};
use std::rc::Rc;

/// The longest chain of scopes or of inlined calls. A longer one is circular.
const CHAIN: u32 = 256;

/// The fields of a metadata node that describe a place.
#[derive(Default)]
struct Fields<'t> {
    kind: &'t str,
    line: u32,
    column: u32,
    scope: Option<u32>,
    inlined_at: Option<u32>,
    file: Option<u32>,
    name: Option<&'t str>,
    filename: Option<&'t str>,
}

impl Scope {
    /// The place that a `!dbg` refers to.
    pub(super) fn place(&self, number: u32) -> Option<PlaceId> {
        self.place_at(number, 0)
    }

    fn place_at(&self, number: u32, depth: u32) -> Option<PlaceId> {
        if let Some(known) = self.known.borrow().get(&number) {
            return *known;
        }
        if depth >= CHAIN {
            return None;
        }
        let found = self.location(number, depth);
        self.known.borrow_mut().insert(number, found);
        found
    }

    fn location(&self, number: u32, depth: u32) -> Option<PlaceId> {
        let fields = self.fields(number)?;
        if fields.kind != "DILocation" {
            return None;
        }
        let (file, function) = self.surroundings(fields.scope?);
        let inlined_at = fields.inlined_at.and_then(|outer| self.place_at(outer, depth + 1));
        Some(self.places.add(Place { file, line: fields.line, column: fields.column, function, inlined_at }))
    }

    /// The file and the function that contain a scope.
    fn surroundings(&self, scope: u32) -> Surroundings {
        if let Some((file, function)) = self.surroundings.borrow().get(&scope) {
            return (file.clone(), function.clone());
        }
        let (mut file, mut function) = (None, "");
        let mut next = Some(scope);
        for _ in 0..CHAIN {
            let Some(fields) = next.and_then(|number| self.fields(number)) else { break };
            file = file.or(fields.file);
            if fields.kind == "DISubprogram" {
                function = fields.name.unwrap_or("");
                break;
            }
            next = fields.scope;
        }
        let name = file.and_then(|file| self.fields(file)).and_then(|fields| fields.filename).unwrap_or("");
        let found: Surroundings = (self.shared(name), self.shared(function));
        self.surroundings.borrow_mut().insert(scope, found.clone());
        found
    }

    fn shared(&self, inner: &str) -> Rc<str> {
        if inner.contains('\\') { plain(&format!("\"{inner}\"")).into() } else { inner.into() }
    }

    fn fields(&self, number: u32) -> Option<Fields<'_>> {
        let mut cursor = Cursor::new(&self.file.text, self.file.metadata.find(number)?);
        cursor.take_word("distinct");
        let Token::Metadata(kind) = cursor.advance() else { return None };
        let mut fields = Fields { kind, ..Fields::default() };
        if !matches!(kind, "DILocation" | "DISubprogram" | "DILexicalBlock" | "DILexicalBlockFile" | "DIFile")
            || !cursor.take('(')
        {
            return None;
        }
        while let Token::Label(label) = cursor.advance() {
            match (label, cursor.token()) {
                ("line", Token::Number(line)) => fields.line = line.parse().ok()?,
                ("column", Token::Number(column)) => fields.column = column.parse().ok()?,
                ("scope", Token::Metadata(number)) => fields.scope = number.parse().ok(),
                ("inlinedAt", Token::Metadata(number)) => fields.inlined_at = number.parse().ok(),
                ("file", Token::Metadata(number)) => fields.file = number.parse().ok(),
                ("name", Token::Text(name)) => fields.name = Some(name),
                ("filename", Token::Text(name)) => fields.filename = Some(name),
                _ => {}
            }
            // A value is a sequence of words and brackets: the flags of a function are joined by bars.
            while !matches!(cursor.token(), Token::Mark(',' | ')') | Token::End) {
                if matches!(cursor.token(), Token::Mark('(' | '[' | '{')) {
                    cursor.skip_brackets();
                } else {
                    cursor.advance();
                }
            }
            cursor.take(',');
        }
        Some(fields)
    }
}
