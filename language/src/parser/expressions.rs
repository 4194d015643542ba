//! Expressions, with the paper's precedence: relations, then `+ - OR`, then `* / DIV MOD AND`, then `~`.

use super::designators::Reference;
use super::state::{Failed, Parsed, Parser};
use crate::ast::{BinaryOperator, Designator, Expression, ExpressionKind, Pattern, Step, UnaryOperator};
use crate::lexer::{self, Keyword, Symbol, TokenKind};
use crate::source::{Diagnostic, Span};

/// Help: how to write comparisons that AND or OR joins.
pub(crate) const JOINED_COMPARISONS: &str = "AND and OR come before comparisons: write (a = b) AND (c = d)";

impl Parser<'_> {
    /// `[Attributes] Simple [relation Simple]`
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        if self.open_expressions == 0 {
            self.operators = 0;
        }
        self.open_expressions += 1;
        let expression = self.nested(Parser::attributed);
        self.open_expressions -= 1;
        expression
    }

    fn attributed(&mut self) -> Parsed<Expression> {
        if !self.at(Symbol::LeftBrace) {
            return self.relation();
        }
        let first = self.token().span;
        let attributes = self.attributes()?;
        let kind = ExpressionKind::Attributed(attributes, Box::new(self.relation()?));
        Ok(Expression { kind, span: self.since(first) })
    }

    fn relation(&mut self) -> Parsed<Expression> {
        let left = self.simple()?;
        let Some(operator) = self.relational_operator() else { return Ok(left) };
        self.advance();
        self.count_operator()?;
        let right = self.simple()?;
        if self.relational_operator().is_some() {
            let help = match right.kind {
                ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, ..) => JOINED_COMPARISONS,
                _ => "comparisons do not chain: put parentheses, or join two with AND",
            };
            return self.unexpected_with_help("the end of this comparison", help);
        }
        Ok(binary(operator, left, right))
    }

    fn simple(&mut self) -> Parsed<Expression> {
        let first = self.token().span;
        let sign = match self.kind() {
            TokenKind::Symbol(Symbol::Plus) => Some(UnaryOperator::Plus),
            TokenKind::Symbol(Symbol::Minus) => Some(UnaryOperator::Minus),
            _ => None,
        };
        let mut left = match sign {
            None => self.term()?,
            Some(sign) => {
                self.advance();
                let smallest = sign == UnaryOperator::Minus && self.at_smallest_integer();
                if smallest { self.smallest_integer(first)? } else { unary(sign, first, self.term()?) }
            }
        };
        while let Some(operator) = self.adding_operator() {
            self.advance();
            self.count_operator()?;
            left = binary(operator, left, self.term()?);
        }
        Ok(left)
    }

    fn term(&mut self) -> Parsed<Expression> {
        let left = self.factor()?;
        self.term_after(left)
    }

    fn term_after(&mut self, mut left: Expression) -> Parsed<Expression> {
        while let Some(operator) = self.multiplying_operator() {
            self.advance();
            self.count_operator()?;
            left = binary(operator, left, self.factor()?);
        }
        Ok(left)
    }

    fn relational_operator(&self) -> Option<BinaryOperator> {
        let TokenKind::Symbol(symbol) = self.kind() else { return None };
        Some(match symbol {
            Symbol::Equal => BinaryOperator::Equal,
            Symbol::NotEqual => BinaryOperator::NotEqual,
            Symbol::Less => BinaryOperator::Less,
            Symbol::LessEqual => BinaryOperator::LessEqual,
            Symbol::Greater => BinaryOperator::Greater,
            Symbol::GreaterEqual => BinaryOperator::GreaterEqual,
            _ => return None,
        })
    }

    fn adding_operator(&self) -> Option<BinaryOperator> {
        Some(match self.kind() {
            TokenKind::Symbol(Symbol::Plus) => BinaryOperator::Add,
            TokenKind::Symbol(Symbol::Minus) => BinaryOperator::Subtract,
            TokenKind::Keyword(Keyword::Or) => BinaryOperator::Or,
            _ => return None,
        })
    }

    fn multiplying_operator(&self) -> Option<BinaryOperator> {
        Some(match self.kind() {
            TokenKind::Symbol(Symbol::Times) => BinaryOperator::Multiply,
            TokenKind::Symbol(Symbol::Slash) => BinaryOperator::Divide,
            TokenKind::Keyword(Keyword::Div) => BinaryOperator::Div,
            TokenKind::Keyword(Keyword::Mod) => BinaryOperator::Mod,
            TokenKind::Keyword(Keyword::And) => BinaryOperator::And,
            _ => return None,
        })
    }

    fn factor(&mut self) -> Parsed<Expression> {
        let factor = self.plain_factor()?;
        self.refuse_steps(&factor)?;
        Ok(factor)
    }

    /// A field or an element is a part of a variable. What a variable may be followed by has been read with it.
    fn refuse_steps(&mut self, value: &Expression) -> Parsed<()> {
        let first = self.token().span;
        let Some(step) = self.step()? else { return Ok(()) };
        let part = if matches!(step, Step::Field(_)) { "a field" } else { "an index" };
        let message = format!("{part} needs a variable, and this is a value");
        self.report(
            Diagnostic::new("not-a-variable", self.since(first), message)
                .note(value.span, "the value")
                .help("assign the value to a variable, and take the part from there"),
        );
        Err(Failed)
    }

    fn plain_factor(&mut self) -> Parsed<Expression> {
        match self.kind() {
            _ if self.at_block_as_expression() => self.block_as_expression(),
            TokenKind::Symbol(Symbol::LeftParenthesis) => self.group(),
            TokenKind::Symbol(Symbol::LeftBracket) => self.elements(),
            TokenKind::Symbol(Symbol::Not) => self.not(),
            TokenKind::Name => self.named(self.token().span),
            _ => self.literal_or_test(),
        }
    }

    fn group(&mut self) -> Parsed<Expression> {
        let first = self.advance().span;
        let inner = Box::new(self.expression()?);
        self.expect(Symbol::RightParenthesis)?;
        Ok(Expression { kind: ExpressionKind::Group(inner), span: self.since(first) })
    }

    /// `[a, b, c]`
    fn elements(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let first = parser.advance().span;
            let elements = match parser.at(Symbol::RightBracket) {
                true => Vec::new(),
                false => parser.list(Parser::expression)?,
            };
            parser.expect(Symbol::RightBracket)?;
            Ok(Expression { kind: ExpressionKind::List(elements), span: parser.since(first) })
        })
    }

    fn not(&mut self) -> Parsed<Expression> {
        let first = self.advance().span;
        let operand = self.nested(Parser::factor)?;
        Ok(unary(UnaryOperator::Not, first, operand))
    }

    fn literal_or_test(&mut self) -> Parsed<Expression> {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Integer(value) => {
                self.advance();
                self.integer(value, token.span).map_or(ExpressionKind::BadNumber, ExpressionKind::Integer)
            }
            TokenKind::Bits(value) => {
                self.advance();
                ExpressionKind::Integer(value)
            }
            TokenKind::BadNumber => {
                self.advance();
                ExpressionKind::BadNumber
            }
            TokenKind::Character(code) => {
                self.advance();
                ExpressionKind::Character(code)
            }
            TokenKind::Real(value) => {
                self.advance();
                ExpressionKind::Real(value)
            }
            TokenKind::String => {
                self.advance();
                ExpressionKind::String(lexer::string_bytes(self.text_of(token)))
            }
            TokenKind::Symbol(Symbol::Receive) => self.receive_test(None)?,
            _ => return self.unexpected("an expression"),
        };
        Ok(Expression { kind, span: self.since(token.span) })
    }

    /// A factor that begins with a name.
    fn named(&mut self, first: Span) -> Parsed<Expression> {
        let calls = self.kind_after(1) == Symbol::LeftParenthesis.into();
        let kind = match self.text_of(self.token()) {
            "INPUT" if calls => self.input()?,
            "EXISTS" if calls => {
                self.position += 2;
                let designator = self.designator()?;
                self.expect(Symbol::RightParenthesis)?;
                ExpressionKind::Exists(designator)
            }
            _ => {
                let reference = self.reference()?;
                self.after_reference(reference)?
            }
        };
        Ok(Expression { kind, span: self.since(first) })
    }

    fn after_reference(&mut self, reference: Reference) -> Parsed<ExpressionKind> {
        Ok(match self.kind() {
            TokenKind::Symbol(Symbol::Receive) => {
                let channel = self.as_designator(reference)?;
                self.receive_test(Some(channel))?
            }
            TokenKind::Keyword(Keyword::Offers) => {
                let designator = self.as_designator(reference)?;
                self.advance();
                ExpressionKind::Offers(designator, self.facets()?)
            }
            TokenKind::Keyword(Keyword::Requires) => {
                let designator = self.as_designator(reference)?;
                self.advance();
                ExpressionKind::Requires(designator, self.facets()?)
            }
            TokenKind::Keyword(Keyword::Is) => {
                let designator = self.as_designator(reference)?;
                self.advance();
                ExpressionKind::Is(designator, self.ty()?)
            }
            _ => reference.into_expression().kind,
        })
    }

    /// `? pattern`
    fn receive_test(&mut self, channel: Option<Designator>) -> Parsed<ExpressionKind> {
        self.expect(Symbol::Receive)?;
        Ok(ExpressionKind::ReceiveTest(channel, self.pattern()?))
    }

    /// `INPUT([designator,] pattern [, limit])`
    fn input(&mut self) -> Parsed<ExpressionKind> {
        self.position += 2;
        let mut channel = None;
        if self.at(TokenKind::Name) && !self.at_pattern_of_input() {
            channel = Some(self.designator()?);
            self.expect(Symbol::Comma)?;
        }
        let pattern = self.pattern()?;
        let has_limit = self.accept(Symbol::Comma);
        let limit = if has_limit { Some(Box::new(self.expression()?)) } else { None };
        self.expect(Symbol::RightParenthesis)?;
        Ok(ExpressionKind::Input(channel, pattern, limit))
    }

    /// Whether a name in INPUT is the pattern: nothing stands behind it, or what stands behind it is no pattern.
    fn at_pattern_of_input(&self) -> bool {
        let [behind, next, end] = [1, 2, 3].map(|ahead| self.kind_after(ahead));
        let may_be_pattern = [TokenKind::Name, Keyword::Any.into(), Keyword::Finish.into()].contains(&next);
        let ends = [Symbol::RightParenthesis, Symbol::Comma].map(TokenKind::from).contains(&end);
        behind == Symbol::RightParenthesis.into()
            || behind == Symbol::Comma.into() && !(may_be_pattern && ends)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Any) => Ok(Pattern::Any(self.advance().span)),
            TokenKind::Keyword(Keyword::Finish) => Ok(Pattern::Finish(self.advance().span)),
            _ => Ok(Pattern::Message(self.name("the name of a message, `ANY` or `FINISH`")?)),
        }
    }

    /// The value of an integer literal without a minus sign.
    pub(super) fn integer(&mut self, value: u64, place: Span) -> Option<i64> {
        let integer = i64::try_from(value).ok();
        if integer.is_none() {
            self.diagnostics.push(lexer::too_large(place));
        }
        integer
    }

    fn at_smallest_integer(&self) -> bool {
        self.at(TokenKind::Integer(i64::MIN.unsigned_abs())) || self.at(TokenKind::Bits(i64::MIN))
    }

    /// Behind a minus sign: the smallest INTEGER, whose magnitude is no INTEGER. It is a literal of its own, not a
    /// negation.
    fn smallest_integer(&mut self, sign: Span) -> Parsed<Expression> {
        self.advance();
        let literal = Expression { kind: ExpressionKind::Integer(i64::MIN), span: self.since(sign) };
        self.term_after(literal)
    }
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

fn unary(operator: UnaryOperator, sign: Span, operand: Expression) -> Expression {
    let span = sign.to(operand.span);
    Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span }
}
