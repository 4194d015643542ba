//! Writes one logical line with its comments, and wraps it if it is too long.

use super::spacing::{DEEPER, reluctance, space_between};
use super::{Item, Joining, Printer, STEP, WIDTH, closes, opens};
use crate::lexer::{Keyword, TokenKind};

/// The indentation of the second and later lines of a wrapped line.
const CONTINUATION: usize = 2 * STEP;

/// An item of a line, with its spacing.
struct Piece<'a> {
    text: &'a str,
    /// Whether a space precedes the item, unless the item begins a line.
    space: bool,
    /// The cost of a line break before the item; `None` if the item may not begin a line.
    reluctance: Option<usize>,
    /// Whether a comment forces a line break before the item.
    breaks: bool,
}

impl<'a> Printer<'a> {
    /// A comment on a line of its own. Its later lines keep their position relative to the first.
    pub(super) fn comment(&mut self, indent: usize) {
        let comment = self.item();
        self.start_line(indent, comment.line_ends);
        self.write_comment(&comment, indent);
        self.position += 1;
        self.joinable = false;
        self.comments_in_the_same_line();
    }

    fn write_comment(&mut self, comment: &Item<'a>, column: usize) {
        for (number, line) in comment.text.split('\n').enumerate() {
            if number == 0 {
                self.output.push_str(line.trim_end());
                continue;
            }
            let text = line.trim_start_matches([' ', '\t']).trim_end();
            self.output.push('\n');
            if !text.is_empty() {
                let old_indent = line.len() - line.trim_start_matches([' ', '\t']).len();
                let indent = (old_indent + column).saturating_sub(comment.column);
                self.output.push_str(&" ".repeat(indent));
                self.output.push_str(text);
            }
        }
    }

    /// Writes the items before index `end` as a line, and the comments at the end of the same source line.
    pub(super) fn line(&mut self, indent: usize, end: usize, joining: Joining) {
        let pieces = pieces(&self.items[self.position..end]);
        let width = pieces.iter().map(|piece| piece.text.len() + usize::from(piece.space)).sum::<usize>();
        let wraps = pieces.iter().any(|piece| piece.breaks || piece.text.contains('\n'));
        let closes = self.at_closer(self.position);
        let line_ends = if closes { 1 } else { self.item().line_ends };
        let simple = joining == Joining::Simple;
        if simple && self.joinable && line_ends == 0 && !wraps && self.column() + 1 + width <= WIDTH {
            self.output.push(' ');
        } else {
            self.start_line(indent, line_ends);
        }
        let before = self.output.len();
        self.wrap(&pieces, indent + CONTINUATION);
        self.joinable = simple && !self.output[before..].contains('\n');
        self.position = end;
        self.comments_in_the_same_line();
    }

    fn comments_in_the_same_line(&mut self) {
        while self.item().is_comment() && self.item().line_ends == 0 {
            let comment = self.item();
            self.output.push(' ');
            let column = self.column();
            self.write_comment(&comment, column);
            self.joinable &= !comment.text.contains('\n');
            self.position += 1;
        }
    }

    /// Begins a line. A blank line before it is kept unless the line is the first or last of its block.
    pub(super) fn start_line(&mut self, indent: usize, line_ends: usize) {
        if !self.output.is_empty() {
            self.output.push('\n');
            if line_ends > 1 && !self.opened {
                self.output.push('\n');
            }
        }
        self.output.push_str(&" ".repeat(indent));
        self.opened = false;
    }

    /// The number of columns used in the current line.
    pub(super) fn column(&self) -> usize {
        let start = self.output.rfind('\n').map_or(0, |newline| newline + 1);
        self.output[start..].chars().count()
    }

    /// Writes the pieces, and breaks lines that get too long at the cheapest places.
    fn wrap(&mut self, pieces: &[Piece<'a>], indent: usize) {
        let mut first = 0;
        while first < pieces.len() {
            let end = first + length_of_line(&pieces[first..], self.column());
            for (index, piece) in pieces.iter().enumerate().take(end).skip(first) {
                if piece.space && index > first {
                    self.output.push(' ');
                }
                self.output.push_str(piece.text);
            }
            if end < pieces.len() {
                self.output.push('\n');
                self.output.push_str(&" ".repeat(indent));
            }
            first = end;
        }
    }
}

/// The number of pieces that fit on a line that begins at this column.
fn length_of_line(pieces: &[Piece<'_>], column: usize) -> usize {
    let forced = (1..pieces.len()).find(|&index| pieces[index].breaks).unwrap_or(pieces.len());
    let mut width = column;
    let overflow = (0..forced).find(|&index| {
        width += pieces[index].text.chars().count() + usize::from(pieces[index].space && index > 0);
        width > WIDTH
    });
    let Some(overflow) = overflow else { return forced };
    let best = (1..=overflow)
        .rev()
        .filter_map(|index| pieces[index].reluctance.map(|reluctance| (reluctance, index)))
        .min_by_key(|&(reluctance, _)| reluctance);
    let later = || (overflow + 1..forced).find(|&index| pieces[index].reluctance.is_some());
    best.map(|(_, index)| index).or_else(later).unwrap_or(forced)
}

fn pieces<'a>(items: &[Item<'a>]) -> Vec<Piece<'a>> {
    let mut depth = 0_usize;
    let mut pieces = Vec::with_capacity(items.len());
    // The word CASE isn't reserved, but stands apart like one that is.
    let of_case = items.first().is_some_and(|first| first.is(TokenKind::Name))
        && items.last().is_some_and(|last| last.is(Keyword::Of));
    for (index, item) in items.iter().enumerate() {
        let before = &items[..index];
        depth = depth.saturating_sub(usize::from(closes(item)));
        let after_comment = before.last().is_some_and(Item::is_comment);
        pieces.push(Piece {
            text: item.text,
            space: space_between(before, item) || of_case && index == 1,
            reluctance: reluctance(before, item).map(|reluctance| reluctance + depth * DEEPER),
            breaks: index > 0 && item.line_ends > 0 && (item.is_comment() || after_comment),
        });
        depth += usize::from(opens(item));
    }
    pieces
}

/// The items on one line. No comment among them may need a line end.
pub(super) fn flat(items: &[Item<'_>]) -> String {
    let mut text = String::new();
    for piece in pieces(items) {
        if piece.space {
            text.push(' ');
        }
        text.push_str(piece.text);
    }
    text
}
