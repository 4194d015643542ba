//! Procedures that crates carry (`PROCEDURE {NATIVE}`): checks their headings, and names them as the crates do. What
//! carries them is not known here.

use std::path::Path;

use crate::ast;
use crate::program::{Owner, ProcedureId, Type, VariableId};
use crate::source::{Diagnostic, SourceFile};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

/// Parameters, and a result, that such a procedure may have at most.
const MOST: usize = 16;

/// Headers are known.
pub(super) fn resolve(definitions: &mut Definitions, files: &[SourceFile], diagnostics: &mut Diagnostics) {
    for index in 0..definitions.declared.procedures.len() {
        let tree = definitions.declared.procedures[index].tree;
        for attribute in tree.attributes.iter().filter(|attribute| attribute.text != "NATIVE") {
            diagnostics.unknown_attribute(attribute, "a procedure may be NATIVE");
        }
        if !tree.is_native() {
            continue;
        }
        let id = ProcedureId(index as u32);
        if let Some(error) = fault(definitions, id, tree) {
            diagnostics.report(error);
        }
        let file = files.get(tree.name.span.file as usize).map_or("", |file| &file.path);
        definitions.program.procedures[index].native = Some(name(file, &tree.name.text));
    }
}

impl Definitions<'_> {
    /// Whether a parameter is `ANY` of a procedure that a crate carries: a value of any type but components.
    pub(super) fn takes_any_value(&self, parameter: VariableId) -> bool {
        let variable = &self.program.variables[parameter.index()];
        let Owner::Procedure(id) = variable.owner else { return false };
        variable.ty.is_bare_any() && self.program.procedures[id.index()].native.is_some()
    }
}

/// The name of a procedure with that of its file before it, which begins with a capital: `Hash.Sha256`.
fn name(file: &str, procedure: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let mut letters = stem.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.{procedure}", letters.as_str())
}

/// What is wrong with a heading.
fn fault(known: &Definitions, id: ProcedureId, tree: &ast::Procedure) -> Option<Diagnostic> {
    let procedure = &known.program.procedures[id.index()];
    let error = |span, message: String, help: &str| {
        Some(Diagnostic::new("native-procedure", span, message).help(help))
    };
    let name = &tree.name.text;
    if procedure.owner != Owner::Program {
        let help = "declare it at the top level of a file, whose name is a part of its name";
        return error(tree.name.span, format!("{name} is NATIVE, and stands in another unit"), help);
    }
    if tree.body.is_some() {
        let message = format!("{name} is NATIVE, and has no body here");
        return error(tree.name.span, message, "what it does stands in the crate that carries it");
    }
    let plain =
        |ty: &Type| matches!(ty, Type::Integer | Type::Real | Type::Boolean | Type::Character | Type::Text);
    let variables = procedure.parameters.iter().map(|id| &known.program.variables[id.index()]);
    let help = "INTEGER, REAL, BOOLEAN, CHARACTER and TEXT go there and back, and ANY is any value";
    let unknown = &known.gaps.variables;
    for (&id, variable) in procedure.parameters.iter().zip(variables) {
        if !plain(&variable.ty) && !variable.ty.is_bare_any() && !unknown.contains(&id) {
            let ty = known.type_name(&variable.ty);
            return error(variable.span, format!("{ty} can't be passed to a NATIVE procedure"), help);
        }
    }
    if let Some(ty) = procedure.result.as_ref().filter(|ty| !plain(ty)) {
        let message = format!("{name} is NATIVE, and can't give back {}", known.type_name(ty));
        return error(tree.name.span, message, help);
    }
    let values = procedure.parameters.len() + usize::from(procedure.result.is_some());
    if values > MOST {
        let message = format!("{name} is NATIVE, and has {values} parameters and results");
        return error(tree.name.span, message, &format!("{MOST} are the most"));
    }
    None
}
