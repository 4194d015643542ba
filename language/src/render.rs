//! Diagnostics as text for people: file, line and column first, then the source line with the place marked,
//! notes, and what to do about it. Knows nothing about what an error means.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{Diagnostic, SourceFile, Span};

/// Whether the text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For terminals.
    Ansi,
    /// For files and pipes.
    Plain,
}

/// All diagnostics, one after another. The first line of each is `path:line:column: error: message [code]`.
pub fn render(files: &[SourceFile], diagnostics: &[Diagnostic], colour: Colour) -> String {
    diagnostics.iter().map(|diagnostic| render_one(files, diagnostic, colour)).collect()
}

fn render_one(files: &[SourceFile], diagnostic: &Diagnostic, colour: Colour) -> String {
    let Diagnostic { code, message, span, .. } = diagnostic;
    let error = match colour {
        Colour::Ansi => "\u{1b}[1;31merror\u{1b}[0m",
        Colour::Plain => "error",
    };
    let Some(file) = files.get(span.file as usize) else {
        let help = diagnostic.help.iter().map(|help| format!("  = help: {help}\n")).collect::<String>();
        return format!("{error}: {message} [{code}]\n{help}\n");
    };
    let (line, column) = file.line_column(span.start);
    let renderer = match colour {
        Colour::Ansi => Renderer::styled(),
        Colour::Plain => Renderer::plain(),
    };
    let snippets = renderer.render(&[snippets(files, diagnostic)]);
    format!("{}:{line}:{column}: {error}: {message} [{code}]\n{snippets}\n\n", file.path)
}

/// The marked source: of the error's file first, then of other files that notes point into.
fn snippets<'a>(files: &'a [SourceFile], diagnostic: &'a Diagnostic) -> Group<'a> {
    let home = diagnostic.span.file;
    let mut shown = vec![home];
    for (span, _) in &diagnostic.notes {
        if !shown.contains(&span.file) {
            shown.push(span.file);
        }
    }
    let mut group = Group::with_level(Level::ERROR);
    for index in shown {
        let Some(file) = files.get(index as usize) else { continue };
        let mut snippet = Snippet::source(&file.text);
        if index == home {
            let mark = AnnotationKind::Primary.span(range(file, diagnostic.span));
            let label = (!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str());
            snippet = snippet.annotation(mark.label(label));
        } else {
            snippet = snippet.path(&file.path);
        }
        let notes = diagnostic.notes.iter().filter(|(span, _)| span.file == index);
        let marks = notes.map(|(span, text)| AnnotationKind::Context.span(range(file, *span)).label(text));
        group = group.element(snippet.annotations(marks));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    group
}

/// The bytes of the span that the file really has, at character boundaries.
fn range(file: &SourceFile, span: Span) -> Range<usize> {
    let start = file.text.floor_char_boundary(span.start as usize);
    let end = file.text.floor_char_boundary(span.end as usize);
    start..end.max(start)
}
