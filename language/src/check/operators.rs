//! Operators: the types of their operands and results, and their value if the operands are constant.

use crate::ast::{self, BinaryOperator as Operator, UnaryOperator};
use crate::program::{Binary, Comparison, Expression, ExpressionKind, Type, Unary};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::conversions::{is_one_character, literal};
use crate::parser::JOINED_COMPARISONS;

/// The longest text that a constant expression may give.
const LONGEST_TEXT: usize = 1 << 16;

/// What went wrong in a constant expression.
enum Fault {
    Overflow,
    DivisionByZero,
    TooLong,
}

type Folded = Result<Option<ExpressionKind>, Fault>;

impl BodyChecker<'_> {
    /// `op a`
    pub(super) fn unary(
        &mut self,
        operator: UnaryOperator,
        tree: &ast::Expression,
        span: Span,
    ) -> Option<Expression> {
        let operand = self.expression(tree)?;
        let operation = match (operator, &operand.ty) {
            (UnaryOperator::Plus, Type::Integer | Type::Real) => return Some(Expression { span, ..operand }),
            (UnaryOperator::Minus, Type::Integer) => Unary::NegateInteger,
            (UnaryOperator::Minus, Type::Real) => Unary::NegateReal,
            (UnaryOperator::Not, Type::Boolean) => Unary::Not,
            (UnaryOperator::Not, _) => {
                self.mismatch(&operand, &Type::Boolean);
                return None;
            }
            _ => {
                let given = self.known.type_name(&operand.ty);
                let message = format!("a sign stands before a number, not {given}");
                let error = Diagnostic::new("operand-type", operand.span, message);
                self.report(error.label(format!("is {given}")));
                return None;
            }
        };
        let folded = match (operation, &operand.kind) {
            (Unary::NegateInteger, ExpressionKind::Integer(value)) => {
                value.checked_neg().ok_or(Fault::Overflow).map(|value| Some(ExpressionKind::Integer(value)))
            }
            (Unary::NegateReal, ExpressionKind::Real(value)) => Ok(Some(ExpressionKind::Real(-value))),
            (Unary::Not, ExpressionKind::Boolean(value)) => Ok(Some(ExpressionKind::Boolean(!value))),
            _ => Ok(None),
        };
        let ty = operand.ty.clone();
        self.folded(folded, span, || Expression {
            kind: ExpressionKind::Unary(operation, Box::new(operand)),
            ty,
            span,
        })
    }

    /// `a op b`
    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &ast::Expression,
        right: &ast::Expression,
        span: Span,
    ) -> Option<Expression> {
        let (left, right) = self.operands(operator, left, right)?;
        let (operation, operands, ty) = match operator {
            Operator::And => (Binary::And, Type::Boolean, Type::Boolean),
            Operator::Or => (Binary::Or, Type::Boolean, Type::Boolean),
            Operator::Div => (Binary::Div, Type::Integer, Type::Integer),
            Operator::Mod => (Binary::Mod, Type::Integer, Type::Integer),
            Operator::Divide => (Binary::DivideReal, Type::Real, Type::Real),
            Operator::Add | Operator::Subtract | Operator::Multiply => {
                let common = common_type(&left, &right);
                let chosen = common.and_then(|ty| arithmetic(operator, &ty).map(|chosen| (chosen, ty)));
                match chosen {
                    Some((operation, Type::Character)) => (operation, Type::Text, Type::Text),
                    Some((operation, ty)) => (operation, ty.clone(), ty),
                    None => return self.wrong_operands(operator, &left, &right, span),
                }
            }
            comparison => match common_type(&left, &right) {
                Some(Type::Record(_) | Type::Sequence(_))
                    if !matches!(comparison, Operator::Equal | Operator::NotEqual) =>
                {
                    return self.wrong_operands(operator, &left, &right, span);
                }
                Some(ty) => (Binary::Compare(compared(comparison)), ty, Type::Boolean),
                None => return self.wrong_operands(operator, &left, &right, span),
            },
        };
        let left = self.converted(left, &operands);
        let (left, right) = (left, self.converted(right, &operands));
        let (left, right) = (left?, right?);
        let folded = fold(operation, &left.kind, &right.kind);
        self.folded(folded, span, || Expression {
            kind: ExpressionKind::Binary(operation, Box::new(left), Box::new(right)),
            ty,
            span,
        })
    }

    /// Both operands. A sequence that is written as `[a, b]` is of the type of the other one.
    fn operands(
        &mut self,
        operator: Operator,
        left: &ast::Expression,
        right: &ast::Expression,
    ) -> Option<(Expression, Expression)> {
        let is_list = |tree: &ast::Expression| matches!(tree.kind, ast::ExpressionKind::List(_));
        if is_list(left) && !is_list(right) {
            let right = self.operand(operator, right)?;
            return Some((self.expression_of(left, &right.ty)?, right));
        }
        let first = self.operand(operator, left);
        if let Some(first) = first.as_ref().filter(|_| is_list(right)) {
            return Some((first.clone(), self.expression_of(right, &first.ty)?));
        }
        let second = self.operand(operator, right);
        first.zip(second)
    }

    /// An operand. AND, OR and `~` bind more tightly than a comparison; the help says so if that was not meant.
    fn operand(&mut self, operator: Operator, tree: &ast::Expression) -> Option<Expression> {
        let reported = self.reported();
        let operand = self.expression(tree);
        let help = match tree.kind {
            ast::ExpressionKind::Binary(Operator::And | Operator::Or, ..) => JOINED_COMPARISONS,
            ast::ExpressionKind::Unary(UnaryOperator::Not, _) => {
                "`~` comes before a comparison: write ~(a = b), or a # b"
            }
            _ => return operand,
        };
        if operand.is_none() && compares(operator) {
            self.explain(reported, "type-mismatch", help);
        }
        operand
    }

    fn wrong_operands(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Option<Expression> {
        let (a, b) = (self.known.type_name(&left.ty), self.known.type_name(&right.ty));
        let message = format!("{} does not go with {a} and {b}", symbol(operator));
        let error = Diagnostic::new("operand-type", span, message).note(left.span, format!("is {a}"));
        let error = error.note(right.span, format!("is {b}"));
        let types = [&left.ty, &right.ty];
        let number = types.iter().any(|ty| matches!(ty, Type::Integer | Type::Real));
        self.report(if number && types.contains(&&Type::Character) {
            error.help("INTEGER(x) gives the number of a character")
        } else if types.contains(&&Type::Text) && left.ty != right.ty {
            error.help("TEXT(x) gives a text of any value")
        } else {
            error
        });
        None
    }

    /// The constant, if it could be computed; else the expression that is computed when the program runs.
    fn folded(
        &mut self,
        folded: Folded,
        span: Span,
        otherwise: impl FnOnce() -> Expression,
    ) -> Option<Expression> {
        let error = match folded {
            Ok(Some(value)) => return Some(literal(value, span)),
            Ok(None) => return Some(otherwise()),
            Err(Fault::Overflow) => {
                Diagnostic::new("constant-overflow", span, "the value does not fit into an INTEGER")
                    .help("INTEGER has 64 bits; use REAL for larger values")
            }
            Err(Fault::DivisionByZero) => Diagnostic::new("constant-division", span, "division by zero")
                .help("the divisor is a constant expression that is 0"),
            Err(Fault::TooLong) => Diagnostic::new("constant-length", span, "this constant text is too long")
                .help(format!("constant texts have at most {LONGEST_TEXT} characters")),
        };
        self.report(error.label("computed at compile time"));
        None
    }
}

/// The type to which both operands convert.
fn common_type(left: &Expression, right: &Expression) -> Option<Type> {
    Some(match (&left.ty, &right.ty) {
        (a, b) if a == b => a.clone(),
        (Type::Integer, Type::Real) | (Type::Real, Type::Integer) => Type::Real,
        (Type::Character, Type::Text) if is_one_character(right) => Type::Character,
        (Type::Text, Type::Character) if is_one_character(left) => Type::Character,
        (Type::Character, Type::Text) | (Type::Text, Type::Character) => Type::Text,
        _ => return None,
    })
}

fn arithmetic(operator: Operator, ty: &Type) -> Option<Binary> {
    Some(match (operator, ty) {
        (Operator::Add, Type::Integer) => Binary::AddInteger,
        (Operator::Subtract, Type::Integer) => Binary::SubtractInteger,
        (Operator::Multiply, Type::Integer) => Binary::MultiplyInteger,
        (Operator::Add, Type::Real) => Binary::AddReal,
        (Operator::Subtract, Type::Real) => Binary::SubtractReal,
        (Operator::Multiply, Type::Real) => Binary::MultiplyReal,
        (Operator::Add, Type::Text | Type::Character) => Binary::Concatenate,
        (Operator::Add, Type::Sequence(_)) => Binary::Join,
        _ => return None,
    })
}

fn compares(operator: Operator) -> bool {
    use Operator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual].contains(&operator)
}

fn compared(operator: Operator) -> Comparison {
    match operator {
        Operator::NotEqual => Comparison::NotEqual,
        Operator::Less => Comparison::Less,
        Operator::LessEqual => Comparison::LessEqual,
        Operator::Greater => Comparison::Greater,
        Operator::GreaterEqual => Comparison::GreaterEqual,
        _ => Comparison::Equal,
    }
}

fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Div => "DIV",
        Operator::Mod => "MOD",
        Operator::And => "AND",
        Operator::Or => "OR",
        Operator::Equal => "=",
        Operator::NotEqual => "#",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterEqual => ">=",
    }
}

fn fold(operation: Binary, left: &ExpressionKind, right: &ExpressionKind) -> Folded {
    use ExpressionKind::{Boolean, Character, Integer, Real, Text};
    let value = match (operation, left, right) {
        (Binary::And, Boolean(a), Boolean(b)) => Boolean(*a && *b),
        (Binary::Or, Boolean(a), Boolean(b)) => Boolean(*a || *b),
        (Binary::AddInteger, Integer(a), Integer(b)) => return checked(a.checked_add(*b)),
        (Binary::SubtractInteger, Integer(a), Integer(b)) => return checked(a.checked_sub(*b)),
        (Binary::MultiplyInteger, Integer(a), Integer(b)) => return checked(a.checked_mul(*b)),
        (Binary::Div | Binary::Mod, _, Integer(0)) => return Err(Fault::DivisionByZero),
        (Binary::Div, Integer(a), Integer(b)) => return checked(floor_div(*a, *b)),
        (Binary::Mod, Integer(a), Integer(b)) => Integer(floor_mod(*a, *b)),
        (Binary::AddReal, Real(a), Real(b)) => Real(a + b),
        (Binary::SubtractReal, Real(a), Real(b)) => Real(a - b),
        (Binary::MultiplyReal, Real(a), Real(b)) => Real(a * b),
        (Binary::DivideReal, Real(a), Real(b)) => Real(a / b),
        (Binary::Concatenate, Text(a), Text(b)) if a.len() + b.len() > LONGEST_TEXT => {
            return Err(Fault::TooLong);
        }
        (Binary::Concatenate, Text(a), Text(b)) => Text([a.as_slice(), b].concat()),
        (Binary::Compare(comparison), Boolean(a), Boolean(b)) => Boolean(holds(comparison, a, b)),
        (Binary::Compare(comparison), Character(a), Character(b)) => Boolean(holds(comparison, a, b)),
        (Binary::Compare(comparison), Integer(a), Integer(b)) => Boolean(holds(comparison, a, b)),
        (Binary::Compare(comparison), Real(a), Real(b)) => Boolean(holds(comparison, a, b)),
        (Binary::Compare(comparison), Text(a), Text(b)) => Boolean(holds(comparison, a, b)),
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn checked(value: Option<i64>) -> Folded {
    value.map(|value| Some(ExpressionKind::Integer(value))).ok_or(Fault::Overflow)
}

/// Rounds towards minus infinity; `None` where the result does not fit. The divisor is not 0.
fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Has the sign of the divisor, which is not 0.
fn floor_mod(a: i64, b: i64) -> i64 {
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

fn holds<T: PartialOrd>(comparison: Comparison, a: &T, b: &T) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterEqual => a >= b,
    }
}
