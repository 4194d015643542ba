//! Statements of C, and their text.

use std::collections::BTreeSet;

use super::expression::{Expr, logical};
use crate::ir::{Compare, Operand};

/// A condition and its negation.
#[derive(Clone)]
pub(super) struct Condition {
    pub yes: Expr,
    pub no: Expr,
    /// The comparison, if the condition is one.
    pub compared: Option<Comparison>,
}

/// A comparison of two operands.
#[derive(Clone)]
pub(super) struct Comparison {
    pub compare: Compare,
    pub left: Operand,
    pub right: Operand,
    /// The variable on the left side, if that is a variable.
    pub variable: Option<usize>,
}

impl Condition {
    /// The negation.
    pub fn not(self) -> Condition {
        let compared = self.compared.map(|one| Comparison { compare: one.compare.opposite(), ..one });
        Condition { yes: self.no, no: self.yes, compared }
    }

    /// The conjunction of two conditions.
    pub fn and(self, other: Condition) -> Condition {
        let (yes, no) = (logical(&self.yes, "&&", &other.yes), logical(&self.no, "||", &other.no));
        Condition { yes, no, compared: None }
    }
}

/// A statement.
pub(super) enum Stmt {
    /// `variable = value;`
    Assign {
        variable: usize,
        value: Expr,
        /// The number that is assigned, if it is a constant.
        constant: Option<u128>,
        /// The variable's type, if this assignment declares it.
        declares: Option<String>,
    },
    /// A declaration without a value.
    Declare(usize, String),
    /// An expression with an effect.
    Do(Expr),
    Return(Option<Expr>),
    If {
        condition: Condition,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Loop {
        header: usize,
        form: Form,
        body: Vec<Stmt>,
    },
    Switch {
        on: Expr,
        arms: Vec<Arm>,
    },
    Goto(usize),
    Label(usize),
    Break,
    Continue,
    Unreachable,
    Comment(String),
}

/// An arm of a `switch`: its cases, or `default`.
pub(super) struct Arm {
    pub values: Vec<String>,
    pub is_default: bool,
    pub body: Vec<Stmt>,
    /// Whether control falls through into the next arm.
    pub falls_through: bool,
}

/// The form of a loop.
pub(super) enum Form {
    Forever,
    While(Condition),
    DoWhile(Condition),
    For { start: Option<Box<Stmt>>, condition: Condition, step: Box<Stmt> },
}

/// Whether control never reaches the end of these statements.
pub(super) fn ends(list: &[Stmt]) -> bool {
    match list.last() {
        Some(Stmt::Return(_) | Stmt::Goto(_) | Stmt::Break | Stmt::Continue | Stmt::Unreachable) => true,
        Some(Stmt::If { then, otherwise, .. }) => ends(then) && ends(otherwise),
        _ => false,
    }
}

/// The lists of statements inside a statement.
pub(super) fn inner(statement: &Stmt) -> Vec<&Vec<Stmt>> {
    match statement {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop { body, .. } => vec![body],
        Stmt::Switch { arms, .. } => arms.iter().map(|arm| &arm.body).collect(),
        _ => Vec::new(),
    }
}

/// The lists of statements inside a statement, mutable.
pub(super) fn inner_mut(statement: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match statement {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop { body, .. } => vec![body],
        Stmt::Switch { arms, .. } => arms.iter_mut().map(|arm| &mut arm.body).collect(),
        _ => Vec::new(),
    }
}

/// The variable and the number, if the statement assigns a constant.
pub(super) fn set_number(statement: &Stmt) -> Option<(usize, u128)> {
    match statement {
        Stmt::Assign { variable, constant: Some(number), .. } => Some((*variable, *number)),
        _ => None,
    }
}

/// The variables that a statement mentions outside of the lists inside it.
pub(super) fn own_mentions(statement: &Stmt) -> BTreeSet<usize> {
    let with = |variable: usize, value: &Expr| {
        let mut mentioned = value.reads.clone();
        mentioned.insert(variable);
        mentioned
    };
    match statement {
        Stmt::Assign { variable, value, .. } => with(*variable, value),
        Stmt::Declare(variable, _) => BTreeSet::from([*variable]),
        Stmt::Do(value) | Stmt::Return(Some(value)) | Stmt::Switch { on: value, .. } => value.reads.clone(),
        Stmt::If { condition, .. } => condition.yes.reads.clone(),
        Stmt::Loop { form, .. } => match form {
            Form::Forever => BTreeSet::new(),
            Form::While(condition) | Form::DoWhile(condition) => condition.yes.reads.clone(),
            Form::For { start, condition, step } => {
                let mut mentioned = own_mentions(step);
                mentioned.extend(start.iter().flat_map(|start| own_mentions(start)));
                mentioned.extend(&condition.yes.reads);
                mentioned
            }
        },
        _ => BTreeSet::new(),
    }
}

/// Writes statements as text.
pub(super) struct Printer<'a> {
    /// The names of variables.
    pub names: &'a [String],
    /// The names of labels.
    pub labels: &'a dyn Fn(usize) -> String,
    /// The text so far.
    pub text: String,
}

impl Printer<'_> {
    /// Writes a list of statements.
    pub fn list(&mut self, list: &[Stmt], depth: usize) {
        for (at, statement) in list.iter().enumerate() {
            if let Stmt::Label(label) = statement {
                // A label must precede a statement: neither a declaration nor the end of a block is one.
                let needs_statement = !matches!(
                    list.get(at + 1),
                    Some(Stmt::Do(_) | Stmt::Return(_) | Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Goto(_))
                        | Some(Stmt::Assign { declares: None, .. })
                );
                let name = (self.labels)(*label);
                self.line(
                    depth.saturating_sub(1),
                    &format!("{name}:{}", if needs_statement { ";" } else { "" }),
                );
            } else {
                self.statement(statement, depth);
            }
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        for line in text.lines() {
            for _ in 0..depth {
                self.text.push_str("    ");
            }
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// An assignment without its semicolon, as `++`, `--` or a compound assignment where possible.
    fn assignment(&self, variable: usize, value: &Expr, declares: &Option<String>) -> String {
        let name = &self.names[variable];
        if let Some(ty) = declares {
            let gap = if ty.ends_with('*') { "" } else { " " };
            return format!("{ty}{gap}{name} = {}", value.text);
        }
        if let Some(rest) = value.text.strip_prefix(name.as_str())
            && let Some((sign, amount)) = rest.trim_start().split_once(' ')
            && value.level >= 6
            && rest.starts_with(' ')
            && is_one_operand(amount, sign)
        {
            return match (sign, amount) {
                ("+", "1") => format!("{name}++"),
                ("-", "1") => format!("{name}--"),
                _ => format!("{name} {sign}= {amount}"),
            };
        }
        format!("{name} = {}", value.text)
    }

    fn simple(&self, statement: &Stmt) -> String {
        match statement {
            Stmt::Assign { variable, value, declares, .. } => self.assignment(*variable, value, declares),
            _ => String::new(),
        }
    }

    fn statement(&mut self, statement: &Stmt, depth: usize) {
        match statement {
            Stmt::Assign { variable, value, declares, .. } => {
                let text = self.assignment(*variable, value, declares);
                self.line(depth, &format!("{text};"));
            }
            Stmt::Declare(variable, ty) => {
                let gap = if ty.ends_with('*') { "" } else { " " };
                let text = format!("{ty}{gap}{};", self.names[*variable]);
                self.line(depth, &text);
            }
            Stmt::Do(value) => self.line(depth, &format!("{};", value.text)),
            Stmt::Return(None) => self.line(depth, "return;"),
            Stmt::Return(Some(value)) => self.line(depth, &format!("return {};", value.text)),
            Stmt::If { condition, then, otherwise } => self.choice(condition, then, otherwise, depth, ""),
            Stmt::Loop { form, body, .. } => self.repetition(form, body, depth),
            Stmt::Switch { on, arms } => self.switch(on, arms, depth),
            Stmt::Goto(label) => {
                let text = format!("goto {};", (self.labels)(*label));
                self.line(depth, &text);
            }
            Stmt::Label(_) => {}
            Stmt::Break => self.line(depth, "break;"),
            Stmt::Continue => self.line(depth, "continue;"),
            Stmt::Unreachable => self.line(depth, "__builtin_unreachable();"),
            Stmt::Comment(text) => self.line(depth, &comment(text)),
        }
    }

    fn choice(
        &mut self,
        condition: &Condition,
        then: &[Stmt],
        otherwise: &[Stmt],
        depth: usize,
        before: &str,
    ) {
        self.line(depth, &format!("{before}if ({}) {{", condition.yes.text));
        self.list(then, depth + 1);
        match otherwise {
            [] => self.line(depth, "}"),
            [Stmt::If { condition, then, otherwise }] => {
                self.choice(condition, then, otherwise, depth, "} else ")
            }
            _ => {
                self.line(depth, "} else {");
                self.list(otherwise, depth + 1);
                self.line(depth, "}");
            }
        }
    }

    fn repetition(&mut self, form: &Form, body: &[Stmt], depth: usize) {
        let head = match form {
            Form::Forever => "for (;;)".to_string(),
            Form::While(condition) => format!("while ({})", condition.yes.text),
            Form::DoWhile(_) => "do".to_string(),
            Form::For { start, condition, step } => {
                let start = start.as_ref().map_or(String::new(), |start| self.simple(start));
                format!("for ({start}; {}; {})", condition.yes.text, self.simple(step))
            }
        };
        self.line(depth, &format!("{head} {{"));
        self.list(body, depth + 1);
        match form {
            Form::DoWhile(condition) => self.line(depth, &format!("}} while ({});", condition.yes.text)),
            _ => self.line(depth, "}"),
        }
    }

    fn switch(&mut self, on: &Expr, arms: &[Arm], depth: usize) {
        self.line(depth, &format!("switch ({}) {{", on.text));
        for arm in arms {
            for value in &arm.values {
                self.line(depth, &format!("case {value}:"));
            }
            if arm.is_default {
                self.line(depth, "default:");
            }
            if matches!(arm.body.first(), Some(Stmt::Assign { declares: Some(_), .. } | Stmt::Declare(..))) {
                self.line(depth + 1, ";");
            }
            self.list(&arm.body, depth + 1);
            if arm.falls_through {
                self.line(depth + 1, "/* fall through */");
            } else if !ends(&arm.body) {
                self.line(depth + 1, "break;");
            }
        }
        self.line(depth, "}");
    }
}

/// Whether the text after an operator is a single operand for it, so that `x = x + a` can be `x += a`.
fn is_one_operand(text: &str, sign: &str) -> bool {
    let mut depth = 0;
    let mut loosest = 16;
    for word in text.split(' ') {
        if depth == 0 {
            loosest = loosest.min(match word {
                "*" | "/" | "%" => 13,
                "+" | "-" => 12,
                "<<" | ">>" => 11,
                "&" => 8,
                "^" => 7,
                "|" => 6,
                "<" | ">" | "<=" | ">=" | "==" | "!=" | "?" | ":" | "&&" | "||" => 0,
                _ => 16,
            });
        }
        depth += word.matches(['(', '[', '{']).count() as i32 - word.matches([')', ']', '}']).count() as i32;
    }
    match sign {
        "+" | "-" => loosest > 12,
        "*" => loosest > 13,
        "<<" | ">>" => loosest > 11,
        "&" => loosest >= 8,
        "^" => loosest >= 7,
        "|" => loosest >= 6,
        _ => false,
    }
}

/// A text as a C comment.
pub(super) fn comment(text: &str) -> String {
    let text = text.trim().replace("*/", "* /").replace("/*", "/ *");
    format!("/* {} */", text.replace('\n', "\n   "))
}
