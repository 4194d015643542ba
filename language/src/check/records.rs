//! Records: the types of their fields, the values that `Name(field: value, ..)` makes, and the fields of places.
//!
//! Two declarations are the same record if they have the same name and the same fields, as with interfaces.

use std::collections::HashMap;

use crate::ast;
use crate::program::{Expression, ExpressionKind, Place, PlaceKind, RecordId, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::habits::instead_of;
use super::scopes::Found;
use super::similar::similar;
use super::symbols::Symbol;

/// The most values that a record has, those of records in it too.
const MOST_VALUES: usize = 1000;

/// How deep records and sequences stand in one another at most: the runtime frees them by recursion.
pub(super) const DEEPEST: usize = 32;

/// Gives every record its fields, and finds the declarations that are the same record.
pub(super) fn resolve(definitions: &mut Definitions, diagnostics: &mut Diagnostics) {
    let all = || (0..).map(RecordId).take(definitions.declared.records.len());
    let fields: Vec<_> = all().map(|id| fields_of(definitions, id, diagnostics)).collect();
    for (id, fields) in all().collect::<Vec<_>>().into_iter().zip(fields) {
        match fields {
            Some(fields) => definitions.program.records[id.index()].fields = fields,
            None => {
                definitions.gaps.records.insert(id);
            }
        }
    }
    let mut same = Same { definitions, diagnostics, sizes: HashMap::new(), first: HashMap::new() };
    for index in 0..same.definitions.program.records.len() {
        same.look_into(RecordId(index as u32));
    }
}

/// The names and types of a record's fields, if they make sense.
fn fields_of(
    definitions: &Definitions,
    id: RecordId,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(String, Type)>> {
    let declared = &definitions.declared.records[id.index()];
    let mut fields: Vec<(String, Type)> = Vec::new();
    let mut known = true;
    for section in &declared.tree.fields {
        let ty = definitions.resolve_type(declared.scope, &section.ty, diagnostics);
        known &= ty.is_some();
        for name in &section.names {
            if fields.iter().any(|(earlier, _)| *earlier == name.text) {
                let note = "this record already has a field of that name".into();
                diagnostics.duplicate(name, declared.tree.name.span, note);
            }
            let ty = ty.clone().unwrap_or(Type::Integer);
            if ty.is_component() {
                let message = format!("field {} is a component, which cannot be copied", name.text);
                let error = Diagnostic::new("component-field", name.span, message);
                diagnostics.report(error.help("a record has values; a COMPONENT holds other components"));
                known = false;
            }
            fields.push((name.text.clone(), ty));
        }
    }
    known.then_some(fields)
}

/// Finds for each record the first one that is the same. The records in it come first.
struct Same<'d, 'a> {
    definitions: &'d mut Definitions<'a>,
    diagnostics: &'d mut Diagnostics,
    /// The size of each record; nothing while that is being found out.
    sizes: HashMap<RecordId, Option<Size>>,
    first: HashMap<(String, Vec<(String, Type)>), RecordId>,
}

/// How large a record is.
#[derive(Clone, Copy)]
struct Size {
    /// How deep records stand in one another: 1 if there is none in it.
    depth: usize,
    /// How many values it has in all.
    values: usize,
}

impl Same<'_, '_> {
    /// Finds out what is in a record, and which is the first that is the same.
    fn look_into(&mut self, id: RecordId) -> Size {
        let mut size = Size { depth: 1, values: 0 };
        match self.sizes.insert(id, None) {
            None => {}
            Some(Some(size)) => {
                self.sizes.insert(id, Some(size));
                return size;
            }
            Some(None) => {
                self.refuse(
                    id,
                    "contains itself",
                    "keep the records in a collection or sequence, and name one by its index",
                );
                return size;
            }
        }
        let mut fields = std::mem::take(&mut self.definitions.program.records[id.index()].fields);
        for (_, ty) in &mut fields {
            size.values += 1;
            let (ty, sequences) = innermost(ty, 0);
            if let Type::Record(inner) = ty {
                let within = self.look_into(*inner);
                size.depth = size.depth.max(1 + sequences + within.depth);
                if sequences == 0 {
                    size.values = size.values.saturating_add(within.values);
                }
                *inner = self.definitions.declared.records[inner.index()].id;
                if self.definitions.gaps.records.contains(inner) {
                    self.definitions.gaps.records.insert(id);
                }
            } else {
                size.depth = size.depth.max(1 + sequences);
            }
        }
        if size.depth > DEEPEST {
            let why = format!("has records in records, {} deep", size.depth);
            self.refuse(id, &why, &format!("at most {DEEPEST} records stand in one another"));
        }
        if size.values > MOST_VALUES {
            let why = format!("has more than {MOST_VALUES} values");
            self.refuse(id, &why, "values of one kind, and however many, belong into a collection");
        }
        let record = &mut self.definitions.program.records[id.index()];
        record.fields = fields.clone();
        let first = *self.first.entry((record.name.clone(), fields)).or_insert(id);
        self.definitions.declared.records[id.index()].id = first;
        self.sizes.insert(id, Some(size));
        size
    }

    fn refuse(&mut self, id: RecordId, why: &str, help: &str) {
        let name = &self.definitions.declared.records[id.index()].tree.name;
        if self.definitions.gaps.records.insert(id) {
            let message = format!("record {} {why}", name.text);
            self.diagnostics.report(Diagnostic::new("record-nesting", name.span, message).help(help));
        }
    }
}

/// The type of the elements of all sequences that stand in one another, and how many these are.
fn innermost(ty: &mut Type, sequences: usize) -> (&mut Type, usize) {
    match ty {
        Type::Sequence(element) => innermost(element, sequences + 1),
        _ => (ty, sequences),
    }
}

impl Definitions<'_> {
    /// The type that the name of a record stands for, if it is known what is in it.
    pub(super) fn record_type(&self, id: RecordId) -> Option<Type> {
        let first = self.declared.records[id.index()].id;
        (!self.gaps.records.contains(&first)).then_some(Type::Record(first))
    }
}

impl BodyChecker<'_> {
    /// `Name(field: value, ..)`: a record whose other fields have their zero.
    pub(super) fn record(&mut self, id: RecordId, call: &ast::Call) -> Option<Expression> {
        let ty = self.known.record_type(id);
        let fields = &self.known.program.records[id.index()].fields;
        let mut values: Vec<(usize, Expression)> = Vec::new();
        let mut is_whole = true;
        for (label, tree) in &call.arguments {
            let Some(label) = label else {
                let message =
                    format!("the values of a record have names: {}", example(&call.name.text, fields));
                self.report(Diagnostic::new("record-field", tree.span, message).label("which field?"));
                is_whole = false;
                continue;
            };
            let field = self.field_named(id, label);
            let value = match field {
                Some(field) => self.expression_of(tree, &fields[field].1),
                None => self.expression(tree).filter(|_| false),
            };
            if field.is_some_and(|field| values.iter().any(|(earlier, _)| *earlier == field)) {
                let message = format!("field {} has a value already", label.text);
                self.report(Diagnostic::new("record-field", label.span, message).label("again"));
                is_whole = false;
            }
            is_whole &= value.is_some();
            values.extend(field.zip(value));
        }
        let kind = ExpressionKind::Record(values);
        Some(Expression { kind, ty: ty?, span: call.span }).filter(|_| is_whole)
    }

    /// The number of a field; an error if the record has none of that name.
    fn field_named(&mut self, id: RecordId, name: &ast::Name) -> Option<usize> {
        let record = &self.known.program.records[id.index()];
        let found = record.fields.iter().position(|(field, _)| *field == name.text);
        if found.is_none() && !self.known.gaps.records.contains(&id) {
            let message = format!("record {} has no field {}", record.name, name.text);
            let error =
                Diagnostic::new("record-field", name.span, message).note(record.span, "declared here");
            let meant = similar(&name.text, record.fields.iter().map(|(field, _)| field.as_str()));
            self.report(match meant {
                Some(meant) => error.help(format!("did you mean {meant}?")),
                None => error.help(format!("its fields: {}", names(&record.fields))),
            });
        }
        found
    }

    /// A field of what a place holds.
    pub(super) fn field(&mut self, place: Place, name: &ast::Name) -> Option<Place> {
        let Type::Record(id) = place.ty else {
            let given = self.known.type_name(&place.ty);
            let (message, help) = if place.ty.is_component() {
                let variable = &self.variable(place.variable()).name;
                let help = format!("what is in a component is reached by messages: {variable}!Message");
                (format!("{given} is a component, which shows no variables"), help)
            } else {
                let help =
                    instead_of(&name.text).unwrap_or("a record has fields: RECORD R; n: INTEGER END R;");
                (format!("{given} has no fields"), help.to_string())
            };
            self.report(Diagnostic::new("not-a-record", name.span, message).label("a field").help(help));
            return None;
        };
        let field = self.field_named(id, name)?;
        let ty = self.known.program.records[id.index()].fields[field].1.clone();
        let span = place.span.to(name.span);
        Some(Place { kind: PlaceKind::Field(Box::new(place), field), ty, span })
    }

    /// The variable and the field that `Variable.field` names. An imported file comes first, unless the variable is a
    /// record.
    pub(super) fn variable_and_field(&self, name: &ast::Name) -> Option<(ast::Name, ast::Name)> {
        let (first, last) = name.qualified()?;
        let whole = name.span;
        let variable =
            ast::Name { text: first.into(), span: Span { end: whole.start + first.len() as u32, ..whole } };
        let field =
            ast::Name { text: last.into(), span: Span { start: whole.end - last.len() as u32, ..whole } };
        let Found::Symbol(Symbol::Variable(id), _) = self.lookup(&variable) else { return None };
        let is_record = matches!(self.variable(id).ty, Type::Record(_));
        let is_import = !self.known.scopes.is_unknown_import(name, first);
        (is_record || !is_import).then_some((variable, field))
    }
}

fn names(fields: &[(String, Type)]) -> String {
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

/// How a record is made, for messages.
fn example(name: &str, fields: &[(String, Type)]) -> String {
    let values: Vec<String> = fields.iter().map(|(field, _)| format!("{field}: ..")).collect();
    format!("{name}({})", values.join(", "))
}
