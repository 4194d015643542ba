//! Records as structs.

use std::collections::BTreeMap;

use drystone_language::program::{Interface, Program, Record, RecordId, Type};

use crate::names::{RUNTIME, Types, clash, name};

/// The structs of all records that messages of these interfaces carry.
///
/// # Errors
/// Two names are the same in Rust.
pub fn all<'i>(program: &Program, interfaces: impl Iterator<Item = &'i Interface>) -> Result<String, String> {
    let mut used = BTreeMap::new();
    for message in interfaces.flat_map(|interface| &interface.messages) {
        message.parameters.iter().try_for_each(|(_, ty)| find(program, ty, &mut used))?;
    }
    Ok(used.values().map(|id| declared(program, &program.records[id.index()])).collect())
}

/// Finds the records of a type, by their names in Rust.
fn find(program: &Program, ty: &Type, used: &mut BTreeMap<String, RecordId>) -> Result<(), String> {
    match ty {
        Type::Sequence(element) => find(program, element, used),
        Type::Record(id) => {
            let record = &program.records[id.index()];
            let in_rust = name(&record.name);
            match used.insert(in_rust.clone(), *id) {
                Some(known) if known == *id => return Ok(()),
                Some(_) => {
                    return Err(format!(
                        "two records {} are used by interfaces, which both are {in_rust} in Rust: rename one of \
                         them",
                        record.name
                    ));
                }
                None => {}
            }
            clash(record.fields.iter().map(|(field, _)| field.as_str()))
                .map_err(|why| format!("the record {} has {why}", record.name))?;
            record.fields.iter().try_for_each(|(_, ty)| find(program, ty, used))
        }
        _ => Ok(()),
    }
}

fn declared(program: &Program, record: &Record) -> String {
    let (types, in_rust) = (Types(program), name(&record.name));
    let each = |text: &dyn Fn(&str, &Type) -> String| -> String {
        record.fields.iter().map(|(field, ty)| text(&name(field), ty)).collect()
    };
    let fields = each(&|field, ty| format!("/// As declared.\npub {field}: {},\n", types.kept(ty, "")));
    let takes = each(&|field, _| format!("{field}: {RUNTIME}::Carried::take(from),\n"));
    let puts = each(&|field, _| format!("{RUNTIME}::Carried::put(&self.{field}, to);\n"));
    format!(
        "/// The record {}.\n\
         #[derive(Clone, Debug, Default, PartialEq)]\n\
         #[allow(non_camel_case_types, non_snake_case)]\n\
         pub struct {in_rust} {{\n{fields}}}\n\
         #[allow(unused_variables)]\n\
         impl {RUNTIME}::Carried for {in_rust} {{\n\
         fn take(from: &mut {RUNTIME}::Reading<'_>) -> Self {{\n\
         from.record(|from| {in_rust} {{\n{takes}}})\n}}\n\
         fn put(&self, to: &mut {RUNTIME}::Writing<'_>) {{\n\
         to.record(|to| {{\n{puts}}});\n}}\n}}\n\n",
        record.name
    )
}
