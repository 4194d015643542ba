//! Statements. If the head of a structured statement can't be read, the statement is left out of the tree. Its blocks
//! are read all the same, so that their errors are found and its END is not taken for the END of something else.

use super::blocks::{CLAUSES, STATEMENTS};
use super::designators::Reference;
use super::state::{Failed, Parsed, Parser};
use crate::ast::{Block, Call, Designator, Expression, Statement, StatementKind};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

/// A statement, or nothing if it has been read to its end but cannot be in the tree.
type Maybe<T> = Parsed<Option<T>>;

impl Parser<'_> {
    /// One statement, without the `;` after it.
    pub(super) fn statement(&mut self) -> Maybe<Statement> {
        let first = self.token().span;
        let kind = self.statement_kind()?;
        Ok(kind.map(|kind| Statement { kind, span: self.since(first) }))
    }

    fn statement_kind(&mut self) -> Maybe<StatementKind> {
        match self.kind() {
            TokenKind::Keyword(Keyword::If) => self.if_statement(),
            TokenKind::Keyword(Keyword::While) => self.while_statement(),
            TokenKind::Keyword(Keyword::Repeat) => self.repeat_statement(),
            TokenKind::Keyword(Keyword::For) => self.for_statement(),
            TokenKind::Keyword(Keyword::Foreach) => self.foreach_statement(),
            TokenKind::Keyword(Keyword::Begin) => {
                let opening = self.advance().span;
                let block = self.inner_block(&[])?;
                self.end_of_structure(opening)?;
                Ok(Some(StatementKind::Block(block)))
            }
            TokenKind::Keyword(Keyword::Return) => {
                self.advance();
                let value = if self.at_end_of_simple_statement() { None } else { Some(self.expression()?) };
                Ok(Some(StatementKind::Return(value)))
            }
            TokenKind::Symbol(Symbol::Send) => self.send(None).map(Some),
            TokenKind::Symbol(Symbol::Receive) => self.receive(None).map(Some),
            TokenKind::Name if self.at_case() => self.case_statement(),
            TokenKind::Name if self.at_sort() => self.sort_statement().map(Some),
            TokenKind::Name if self.at_select() => self.select_statement(),
            TokenKind::Name => self.named_statement().map(Some),
            _ if self.open_branches > 0 => {
                self.unexpected_with_help("a statement", "`|` stands before each further branch")
            }
            _ => self.unexpected("a statement"),
        }
    }

    fn at_end_of_simple_statement(&self) -> bool {
        let ends = [
            Keyword::End,
            Keyword::Else,
            Keyword::Elsif,
            Keyword::Until,
            Keyword::Activity,
            Keyword::Finally,
        ];
        self.at(Symbol::Semicolon) || self.at(Symbol::Bar) || self.at_any(&ends) || self.at_end()
    }

    // Statements that begin with a name.

    fn named_statement(&mut self) -> Parsed<StatementKind> {
        if self.kind_after(1) == Symbol::LeftParenthesis.into()
            && let Some(read) = predeclared(self.text_of(self.token()))
        {
            self.position += 2;
            return read(self);
        }
        let reference = self.reference()?;
        match self.kind() {
            TokenKind::Symbol(Symbol::Assign) => {
                let target = self.as_designator(reference)?;
                self.advance();
                Ok(StatementKind::Assign(target, self.expression()?))
            }
            TokenKind::Symbol(Symbol::Send) => {
                let channel = self.as_designator(reference)?;
                self.send(Some(channel))
            }
            TokenKind::Symbol(Symbol::Receive) => {
                let channel = self.as_designator(reference)?;
                self.receive(Some(channel))
            }
            TokenKind::Symbol(Symbol::Equal) => {
                self.unexpected_with_help("a statement", "an assignment is written `:=`")
            }
            _ => self.procedure_call(reference),
        }
    }

    fn procedure_call(&mut self, reference: Reference) -> Parsed<StatementKind> {
        match reference {
            Reference::Call(Call { name, arguments, .. }) => {
                if let Some((Some(label), _)) = arguments.iter().find(|(label, _)| label.is_some()) {
                    let message = "the arguments of a procedure have no names";
                    self.report(Diagnostic::new("unexpected-token", label.span, message));
                    return Err(Failed);
                }
                Ok(StatementKind::Call(name, arguments.into_iter().map(|(_, value)| value).collect()))
            }
            Reference::Designator(designator) if designator.bare().is_some() => {
                Ok(StatementKind::Call(designator.name, Vec::new()))
            }
            Reference::Designator(_) => self.unexpected("`:=`, `!` or `?` after this variable"),
        }
    }

    fn send(&mut self, channel: Option<Designator>) -> Parsed<StatementKind> {
        self.expect(Symbol::Send)?;
        let message = self.name("the name of a message")?;
        let arguments = self.in_parentheses(Parser::expression)?;
        Ok(StatementKind::Send { channel, message, arguments })
    }

    fn receive(&mut self, channel: Option<Designator>) -> Parsed<StatementKind> {
        self.expect(Symbol::Receive)?;
        if self.at_any(&[Keyword::Any, Keyword::Finish]) {
            return self.unexpected_with_help(
                "the name of a message",
                "`?ANY` and `?FINISH` are tests: they stand in expressions",
            );
        }
        let message = self.name("the name of a message")?;
        let targets = self.in_parentheses(|parser| {
            parser.word_before_argument();
            parser.designator()
        })?;
        Ok(StatementKind::Receive { channel, message, targets })
    }

    /// `(element {, element})`, or nothing.
    pub(super) fn in_parentheses<T>(
        &mut self,
        element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if !self.accept(Symbol::LeftParenthesis) {
            return Ok(Vec::new());
        }
        if self.accept(Symbol::RightParenthesis) {
            return Ok(Vec::new());
        }
        let elements = self.list(element)?;
        self.expect(Symbol::RightParenthesis)?;
        Ok(elements)
    }

    // Predeclared statements, after their opening parenthesis.

    fn new_statement(&mut self) -> Parsed<StatementKind> {
        let target = self.designator()?;
        let (mut ty, mut arguments) = (None, Vec::new());
        if self.accept(Symbol::Comma) {
            if self.at(Keyword::Any) {
                ty = Some(self.ty()?);
            } else {
                arguments = self.list(Parser::expression)?;
            }
        }
        self.expect(Symbol::RightParenthesis)?;
        let at = if self.accept(Keyword::At) { Some(self.expression()?) } else { None };
        let by = if at.is_some() { self.factories()? } else { Vec::new() };
        Ok(StatementKind::New { target, ty, arguments, at, by })
    }

    fn delete_statement(&mut self) -> Parsed<StatementKind> {
        self.only_designator().map(StatementKind::Delete)
    }

    fn disconnect_statement(&mut self) -> Parsed<StatementKind> {
        self.only_designator().map(StatementKind::Disconnect)
    }

    fn only_designator(&mut self) -> Parsed<Designator> {
        let designator = self.designator()?;
        self.expect(Symbol::RightParenthesis)?;
        Ok(designator)
    }

    fn move_statement(&mut self) -> Parsed<StatementKind> {
        let from = self.designator()?;
        self.expect(Symbol::Comma)?;
        Ok(StatementKind::Move(from, self.only_designator()?))
    }

    /// Whether `SORT(x OF ..` comes. SORT isn't reserved, but OF stands in no argument.
    fn at_sort(&self) -> bool {
        self.text_of(self.token()) == "SORT"
            && self.kind_after(1) == Symbol::LeftParenthesis.into()
            && self.kind_after(2) == TokenKind::Name
            && self.kind_after(3) == Keyword::Of.into()
    }

    fn sort_statement(&mut self) -> Parsed<StatementKind> {
        self.position += 2;
        let element = self.name("the name of an element")?;
        self.expect(Keyword::Of)?;
        let sequence = self.designator()?;
        self.expect(Symbol::Comma)?;
        let key = self.expression()?;
        self.expect(Symbol::RightParenthesis)?;
        Ok(StatementKind::Sort { element, sequence, key })
    }

    fn connect_statement(&mut self) -> Parsed<StatementKind> {
        let (required, to, by) = self.joint()?;
        Ok(StatementKind::Connect { required, to, by })
    }

    fn export_statement(&mut self) -> Parsed<StatementKind> {
        let (offered, name, by) = self.joint()?;
        Ok(StatementKind::Export { offered, name, by })
    }

    /// `designator, expression) [BY calls]`
    fn joint(&mut self) -> Parsed<(Designator, Expression, Vec<Call>)> {
        let designator = self.designator()?;
        self.expect(Symbol::Comma)?;
        let expression = self.expression()?;
        self.expect(Symbol::RightParenthesis)?;
        Ok((designator, expression, self.factories()?))
    }

    /// `[BY call {, call}]`
    fn factories(&mut self) -> Parsed<Vec<Call>> {
        if !self.accept(Keyword::By) {
            return Ok(Vec::new());
        }
        self.list(Parser::factory)
    }

    pub(super) fn factories_alone(&mut self) -> Parsed<Vec<Call>> {
        let calls = self.list(Parser::factory)?;
        if !self.at_end() {
            return self.unexpected("`,` or the end of what stands behind BY");
        }
        Ok(calls)
    }

    fn await_statement(&mut self) -> Parsed<StatementKind> {
        let condition = self.expression()?;
        if self.at(Symbol::Comma) {
            let help = "AWAIT(c, n) tells whether c holds: IF AWAIT(c, n) THEN";
            return self.unexpected_with_help("`)` after this condition", help);
        }
        self.expect(Symbol::RightParenthesis)?;
        Ok(StatementKind::Await(condition))
    }

    // Structured statements.

    fn if_statement(&mut self) -> Maybe<StatementKind> {
        let opening = self.advance().span;
        let mut branches = Vec::new();
        loop {
            let condition = self.head(Keyword::Then, Parser::expression);
            let block = self.inner_block(&[Keyword::Elsif, Keyword::Else])?;
            branches.push(condition.map(|condition| (condition, block)));
            if !self.accept(Keyword::Elsif) && !self.foreign_elsif() {
                break;
            }
        }
        let otherwise = if self.accept(Keyword::Else) { Some(self.inner_block(&[])?) } else { None };
        self.end_of_structure(opening)?;
        let branches: Option<Vec<(Expression, Block)>> = branches.into_iter().collect();
        Ok(branches.map(|branches| StatementKind::If(branches, otherwise)))
    }

    fn while_statement(&mut self) -> Maybe<StatementKind> {
        let opening = self.advance().span;
        let condition = self.head(Keyword::Do, Parser::expression);
        let body = self.inner_block(&[])?;
        self.end_of_structure(opening)?;
        Ok(condition.map(|condition| StatementKind::While(condition, body)))
    }

    fn repeat_statement(&mut self) -> Maybe<StatementKind> {
        let opening = self.advance().span;
        let body = self.inner_block(&[Keyword::Until])?;
        if !self.at(Keyword::Until) {
            let message = format!("expected `UNTIL` of this `REPEAT`, found {}", self.found());
            let diagnostic = Diagnostic::new("unexpected-token", self.token().span, message);
            self.report(diagnostic.note(opening, "this `REPEAT` is not closed"));
            self.lose_units();
            return Ok(None);
        }
        self.advance();
        Ok(Some(StatementKind::Repeat(body, self.expression()?)))
    }

    fn for_statement(&mut self) -> Maybe<StatementKind> {
        let opening = self.advance().span;
        let head = self.head(Keyword::Do, |parser| {
            let variable = parser.designator()?;
            if parser.at(Symbol::Equal) {
                return parser.unexpected_with_help("`:=`", "an assignment is written `:=`");
            }
            parser.expect(Symbol::Assign)?;
            let from = parser.expression()?;
            if parser.at(Symbol::Range) {
                return parser.unexpected_with_help("`TO`", "write FOR i := 1 TO 10 DO .. END");
            }
            parser.expect(Keyword::To)?;
            let to = parser.expression()?;
            let by = if parser.accept(Keyword::By) { Some(parser.expression()?) } else { None };
            Ok((variable, from, to, by))
        });
        let body = self.inner_block(&[])?;
        self.end_of_structure(opening)?;
        Ok(head.map(|(variable, from, to, by)| StatementKind::For { variable, from, to, by, body }))
    }

    fn foreach_statement(&mut self) -> Maybe<StatementKind> {
        let opening = self.advance().span;
        let head = self.head(Keyword::Do, |parser| {
            let variables = parser.list(Parser::designator)?;
            parser.expect(Keyword::Of)?;
            Ok((variables, parser.designator()?))
        });
        let body = self.inner_block(&[])?;
        self.end_of_structure(opening)?;
        Ok(head.map(|(variables, collection)| StatementKind::Foreach { variables, collection, body }))
    }

    /// Reads the head before THEN or DO. `None` if it can't be read; then it is skipped up to that word, if there is
    /// one.
    fn head<T>(&mut self, closing: Keyword, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let head = read(self).and_then(|head| self.expect(closing).map(|_| head));
        if head.is_err() {
            self.lost_statements += 1;
            match self.end_of_head() {
                Some(closing) => self.position = closing + 1,
                None if self.on_a_new_line() => {}
                None => self.skip_on_line(|parser| parser.at(Symbol::Semicolon)),
            }
        }
        head.ok()
    }

    /// Where THEN or DO is, if neither a statement nor an END comes first.
    fn end_of_head(&self) -> Option<usize> {
        let closes = [Keyword::Then, Keyword::Do].map(TokenKind::from);
        let stops = |at: usize| {
            let is_keyword = |keyword| STATEMENTS.contains(&keyword) || CLAUSES.contains(&keyword);
            let begins = matches!(self.tokens[at].kind, TokenKind::Keyword(keyword) if is_keyword(keyword));
            let divided = self.tokens[at].kind == Symbol::Semicolon.into() && self.begins_line(at + 1);
            begins || divided || self.tokens[at].kind == TokenKind::End
        };
        let at = (self.position..self.tokens.len()).find(|&at| stops(at))?;
        closes.contains(&self.tokens[at].kind).then_some(at)
    }
}

/// The statements that are recognised by name.
fn predeclared<'a>(name: &str) -> Option<fn(&mut Parser<'a>) -> Parsed<StatementKind>> {
    Some(match name {
        "NEW" => Parser::new_statement,
        "DELETE" => Parser::delete_statement,
        "MOVE" => Parser::move_statement,
        "CONNECT" => Parser::connect_statement,
        "DISCONNECT" => Parser::disconnect_statement,
        "EXPORT" => Parser::export_statement,
        "AWAIT" => Parser::await_statement,
        _ => return None,
    })
}
