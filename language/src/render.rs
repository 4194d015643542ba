//! Renders diagnostics as text for people: file, line and column first, then the source line with the place marked,
//! notes, and the help. Knows nothing of what an error means.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{Diagnostic, Lines, SourceFile, Span};

/// Whether the text has terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For terminals.
    Ansi,
    /// For files and pipes.
    Plain,
}

/// Marks with at most so many bytes between them are shown in one piece of source. Otherwise, the source between two
/// marks, which may be a whole file, would be rendered for one diagnostic.
const FAR: usize = 10_000;

/// The bytes of a line that are shown before and behind the marks.
const BESIDE: usize = 1000;

/// All diagnostics, one after another. The first line of each is `path:line:column: error: message [code]`,
/// or `warning` in place of `error`.
pub fn render(files: &[SourceFile], diagnostics: &[Diagnostic], colour: Colour) -> String {
    let files: Vec<File> = files.iter().map(File::of).collect();
    diagnostics.iter().map(|diagnostic| render_one(&files, diagnostic, colour)).collect()
}

struct File<'a> {
    path: &'a str,
    text: &'a str,
    lines: Lines<'a>,
}

/// A place to mark, and what to write beside it.
struct Mark<'a> {
    kind: AnnotationKind,
    range: Range<usize>,
    label: Option<&'a str>,
}

fn render_one(files: &[File], diagnostic: &Diagnostic, colour: Colour) -> String {
    let Diagnostic { code, message, span, .. } = diagnostic;
    let error = match (diagnostic.is_warning, colour) {
        (false, Colour::Ansi) => "\u{1b}[1;31merror\u{1b}[0m",
        (false, Colour::Plain) => "error",
        (true, Colour::Ansi) => "\u{1b}[1;33mwarning\u{1b}[0m",
        (true, Colour::Plain) => "warning",
    };
    let Some(file) = files.get(span.file as usize) else {
        let help = diagnostic.help.iter().map(|help| format!("  = help: {help}\n")).collect::<String>();
        return format!("{error}: {message} [{code}]\n{help}\n");
    };
    let (line, column) = file.lines.line_column(span.start);
    let renderer = match colour {
        Colour::Ansi => Renderer::styled(),
        Colour::Plain => Renderer::plain(),
    };
    let snippets = renderer.render(&[snippets(files, diagnostic)]);
    format!("{}:{line}:{column}: {error}: {message} [{code}]\n{snippets}\n\n", file.path)
}

/// The marked source: around the error first, then around the notes.
fn snippets<'a>(files: &'a [File], diagnostic: &'a Diagnostic) -> Group<'a> {
    let home = diagnostic.span.file;
    let mut shown = vec![home];
    for (span, _) in &diagnostic.notes {
        if !shown.contains(&span.file) {
            shown.push(span.file);
        }
    }
    let mut group = Group::with_level(if diagnostic.is_warning { Level::WARNING } else { Level::ERROR });
    for index in shown {
        let Some(file) = files.get(index as usize) else { continue };
        let notes = diagnostic.notes.iter().filter(|(span, _)| span.file == index);
        let mut marks: Vec<Mark> = notes.map(|(span, text)| file.mark(*span, text)).collect();
        if index == home {
            let mark = file.mark(diagnostic.span, &diagnostic.label);
            marks.insert(0, Mark { kind: AnnotationKind::Primary, ..mark });
        }
        for marks in near_ones_together(marks) {
            let is_of_error = marks.iter().any(|mark| mark.kind == AnnotationKind::Primary);
            group = group.element(file.snippet(marks, !is_of_error));
        }
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    group
}

/// The marks in groups. The group of the first mark comes first.
fn near_ones_together(marks: Vec<Mark>) -> Vec<Vec<Mark>> {
    let mut groups: Vec<Vec<Mark>> = Vec::new();
    for mark in marks {
        let is_near = |other: &Mark| {
            mark.range.start <= other.range.end + FAR && other.range.start <= mark.range.end + FAR
        };
        match groups.iter_mut().find(|group| group.iter().any(is_near)) {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    groups
}

impl File<'_> {
    fn of(file: &SourceFile) -> File<'_> {
        File { path: &file.path, text: &file.text, lines: Lines::of(&file.text) }
    }

    fn mark<'a>(&self, span: Span, label: &'a str) -> Mark<'a> {
        let label = (!label.is_empty()).then_some(label);
        Mark { kind: AnnotationKind::Context, range: range(self.text, span), label }
    }

    /// The lines with these marks, as far as they are near them.
    fn snippet<'a>(&'a self, marks: Vec<Mark<'a>>, with_path: bool) -> Snippet<'a, Annotation<'a>> {
        let first = marks.iter().map(|mark| mark.range.start).min().unwrap_or(0);
        let last = marks.iter().map(|mark| mark.range.end).max().unwrap_or(0);
        // Something that is missing at the end of a text is marked behind its last line that is not empty.
        let line = self.lines.line(first.min(self.text.len().saturating_sub(1)));
        let (before, behind) = (self.lines.range(line).start, self.lines.range(self.lines.line(last)).end);
        let start = before.max(self.text.floor_char_boundary(first.saturating_sub(BESIDE)));
        let end = behind.min(self.text.floor_char_boundary(last + BESIDE));
        let marks = marks.into_iter().map(|Mark { kind, range, label }| {
            kind.span(range.start - start..range.end - start).label(label)
        });
        let snippet = Snippet::source(&self.text[start..end]).line_start(line + 1).annotations(marks);
        if with_path { snippet.path(self.path) } else { snippet }
    }
}

/// The part of the span that is within the text, at character boundaries.
fn range(text: &str, span: Span) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.floor_char_boundary(span.end as usize);
    start..end.max(start)
}
