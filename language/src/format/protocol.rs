//! Lays out protocols: on one line if they fit, otherwise with one alternative on each line, and each bracket under the
//! `|`s of its alternatives.

use super::line::flat;
use super::{Item, Printer, STEP, WIDTH, closes, opens};
use crate::lexer::{Keyword, Symbol, TokenKind};

/// A part of a sequence.
enum Node<'a> {
    /// A message with its parameters.
    Message(String),
    /// A bracketed protocol: its opening bracket, alternatives, and closing bracket.
    Group(&'a str, Vec<Vec<Node<'a>>>, &'a str),
    /// A comment, and whether it needs a line end.
    Comment(&'a str, LineEnd),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Before,
    After,
    None,
}

impl<'a> Printer<'a> {
    /// Writes the text between an interface's heading and its END.
    pub(super) fn protocol(&mut self, indent: usize) {
        while self.item().is_comment() && !self.next_token().is(Keyword::End) {
            self.comment(indent);
        }
        let rest = &self.items[self.position..];
        let length = rest.iter().take_while(|item| !item.is(Keyword::End)).count();
        let comments = rest[..length].iter().rev().take_while(|item| item.is_comment()).count();
        let end = self.position + length - comments;
        if end == self.position {
            return;
        }
        let line_ends = self.item().line_ends;
        let items: Vec<_> = self.items[self.position..end].to_vec();
        let alternatives = alternatives(&mut items.as_slice());
        self.start_line(indent, line_ends);
        self.outermost(&alternatives, indent);
        self.position = end;
        self.joinable = false;
        while self.item().is_comment() && self.item().line_ends == 0 {
            let text = self.item().text;
            self.output.push(' ');
            self.output.push_str(text);
            self.position += 1;
        }
    }

    fn outermost(&mut self, alternatives: &[Vec<Node<'a>>], column: usize) {
        match (flat_alternatives(alternatives), alternatives) {
            (Some(flat), _) if column + flat.chars().count() <= WIDTH => self.output.push_str(&flat),
            (_, [only]) => {
                self.sequence(only, column);
            }
            _ => {
                self.output.push_str("  ");
                self.alternatives(alternatives, column);
            }
        }
    }

    /// Writes the alternatives after an opening bracket in this column. The result tells whether a comment ends the
    /// line.
    fn alternatives(&mut self, alternatives: &[Vec<Node<'a>>], column: usize) -> bool {
        let mut comment_ends_line = false;
        for (index, alternative) in alternatives.iter().enumerate() {
            if index > 0 {
                self.start_line(column, 1);
                self.output.push_str("| ");
            }
            comment_ends_line = self.sequence(alternative, column + STEP);
        }
        comment_ends_line
    }

    /// Writes one alternative. The result tells whether a comment ends the line.
    fn sequence(&mut self, nodes: &[Node<'a>], column: usize) -> bool {
        let mut breaks = false;
        for (index, node) in nodes.iter().enumerate() {
            let flat = flat_node(node);
            let fits = |taken: usize| flat.as_ref().is_some_and(|flat| taken + flat.chars().count() <= WIDTH);
            let comes_first = index == 0;
            let joins = match node {
                Node::Comment(_, end) => *end != LineEnd::Before,
                _ => fits(self.column() + 1),
            };
            let starts_line = !comes_first && (breaks || !joins);
            if starts_line {
                self.start_line(column, 1);
            } else if !comes_first {
                self.output.push(' ');
            }
            breaks = false;
            match node {
                Node::Comment(text, end) => {
                    self.output.push_str(text);
                    breaks = starts_line || *end != LineEnd::None;
                }
                Node::Group(opening, alternatives, closing) if !fits(self.column()) => {
                    self.group(opening, alternatives, closing);
                    breaks = true;
                }
                Node::Message(text) => self.output.push_str(text),
                Node::Group(..) => self.output.push_str(&flat.unwrap_or_default()),
            }
        }
        breaks && matches!(nodes.last(), Some(Node::Comment(..)))
    }

    fn group(&mut self, opening: &str, alternatives: &[Vec<Node<'a>>], closing: &str) {
        let column = self.column();
        self.output.push_str(opening);
        self.output.push(' ');
        if self.alternatives(alternatives, column) {
            self.start_line(column, 1);
        } else {
            self.output.push(' ');
        }
        self.output.push_str(closing);
    }
}

/// Takes alternatives up to a closing bracket, which is not taken, or up to the end.
fn alternatives<'a>(items: &mut &[Item<'a>]) -> Vec<Vec<Node<'a>>> {
    let mut alternatives = vec![Vec::new()];
    while let Some(item) = items.first().filter(|item| !closes(item)) {
        if item.is(Symbol::Bar) {
            *items = &items[1..];
            alternatives.push(Vec::new());
        } else if let Some(alternative) = alternatives.last_mut() {
            alternative.push(node(items));
        }
    }
    alternatives
}

fn node<'a>(items: &mut &[Item<'a>]) -> Node<'a> {
    let first = items[0];
    if opens(&first) {
        *items = &items[1..];
        let inner = alternatives(items);
        let closing = items.first().map_or("", |item| item.text);
        *items = &items[1.min(items.len())..];
        return Node::Group(first.text, inner, closing);
    }
    let length = if first.is_comment() { 1 } else { length_of_message(items) };
    let (taken, rest) = items.split_at(length);
    *items = rest;
    if first.is_comment() {
        let ends_line = rest.first().is_some_and(|next| next.line_ends > 0) || first.text.contains('\n');
        let end = match (first.line_ends > 0, ends_line) {
            (true, _) => LineEnd::Before,
            (false, true) => LineEnd::After,
            (false, false) => LineEnd::None,
        };
        return Node::Comment(first.text, end);
    }
    Node::Message(flat(taken))
}

/// The number of items of `IN Name` and its parameters, if there are any.
fn length_of_message(items: &[Item<'_>]) -> usize {
    let is_token = |&(_, item): &(usize, &Item<'_>)| !item.is_comment();
    let mut tokens = items.iter().enumerate().filter(is_token).skip(1);
    let name = tokens.next().map_or(items.len(), |(index, _)| index + 1);
    let parenthesis = tokens.next().filter(|(_, item)| item.is(Symbol::LeftParenthesis));
    let has_parameters =
        parenthesis.is_some() && tokens.next().is_some_and(|(_, item)| item.is(TokenKind::Name));
    let Some((start, _)) = parenthesis.filter(|_| has_parameters) else { return name };
    let mut depth = 0_usize;
    for (index, item) in items.iter().enumerate().skip(start) {
        depth = (depth + usize::from(opens(item))).saturating_sub(usize::from(closes(item)));
        if depth == 0 {
            return index + 1;
        }
    }
    items.len()
}

fn flat_alternatives(alternatives: &[Vec<Node<'_>>]) -> Option<String> {
    let flat: Option<Vec<_>> = alternatives.iter().map(|alternative| flat_sequence(alternative)).collect();
    Some(flat?.join(" | "))
}

fn flat_sequence(nodes: &[Node<'_>]) -> Option<String> {
    let flat: Option<Vec<_>> = nodes.iter().map(flat_node).collect();
    Some(flat?.join(" "))
}

/// The node on one line; `None` if a comment in it needs a line end.
fn flat_node(node: &Node<'_>) -> Option<String> {
    match node {
        Node::Message(text) => Some(text.clone()),
        Node::Group(opening, inner, closing) => {
            Some(format!("{opening} {} {closing}", flat_alternatives(inner)?))
        }
        Node::Comment(text, LineEnd::None) => Some(text.to_string()),
        Node::Comment(..) => None,
    }
}
