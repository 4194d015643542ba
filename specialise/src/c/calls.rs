//! Calls in C, and declarations with which C passes arguments as the IR does.

use super::expression::{Expr, Want, Writer};
use super::library::known;
use super::symbols::{Symbols, called, is_renamed};
use super::types::{CType, Prelude, container, signed};
use crate::ir::{Code, Const, Extension, Function, FunctionId, Op, Operand, ParamAttributes, Type};

/// The C type of a parameter or argument.
pub(super) fn parameter_type(
    prelude: &mut Prelude,
    ty: &Type,
    attributes: Option<&ParamAttributes>,
) -> Result<String, String> {
    if let Some((size, align)) = attributes.and_then(|attributes| attributes.byval) {
        return Ok(prelude.by_value(size, align));
    }
    match (ty, attributes.and_then(|attributes| attributes.extension)) {
        (Type::Int(bits), Some(Extension::Sign)) => Ok(signed(*bits).into()),
        _ => prelude.name(ty),
    }
}

/// Whether the function fills a structure at its first parameter and also returns that address.
pub(super) fn returns_through_parameter(function: &Function) -> bool {
    function.result == Type::Void
        && function.params.first().is_some_and(|param| param.attributes.sret.is_some())
}

fn result_type(prelude: &mut Prelude, function: &Function) -> Result<String, String> {
    if returns_through_parameter(function) {
        return Ok("void *".into());
    }
    match (&function.result, function.result_extension) {
        (Type::Int(bits), Some(Extension::Sign)) => Ok(signed(*bits).into()),
        (ty, _) => prelude.name(ty),
    }
}

fn spaced(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// The head of a function, with or without the names of its parameters.
pub(super) fn head(
    prelude: &mut Prelude,
    function: &Function,
    name: &str,
    parameters: Option<&[String]>,
) -> Result<String, String> {
    if name == "main" && !function.internal {
        return Ok(match (function.params.len(), parameters) {
            (0, _) => "int main(void)".into(),
            (2, Some([count, list])) => format!("int main(int {count}, char **{list})"),
            (2, _) => "int main(int, char **)".into(),
            _ => return Err("a `main` that takes neither no argument nor two".into()),
        });
    }
    let mut list = Vec::new();
    for (at, param) in function.params.iter().enumerate() {
        let ty = parameter_type(prelude, &param.ty, Some(&param.attributes))?;
        let is_restricted = param.attributes.noalias && param.attributes.byval.is_none() && ty.ends_with('*');
        list.push(match (parameters, is_restricted) {
            (None, _) => ty,
            (Some(names), true) => format!("{ty}restrict {}", names[at]),
            (Some(names), false) => spaced(&ty, &names[at]),
        });
    }
    match (function.variadic, list.is_empty()) {
        (true, false) => list.push("...".into()),
        (false, true) => list.push("void".into()),
        _ => {}
    }
    let result = result_type(prelude, function)?;
    let linkage = if function.internal { "static " } else { "" };
    let returning = if function.noreturn && result == "void" { "_Noreturn " } else { "" };
    Ok(format!("{linkage}{returning}{}({})", spaced(&result, name), list.join(", ")))
}

/// The declaration of a function for before its use; `None` if there is no need for one.
pub(super) fn declaration(
    prelude: &mut Prelude,
    function: &Function,
    name: &str,
) -> Result<Option<String>, String> {
    if name == "main" || name.is_empty() {
        return Ok(None);
    }
    if !is_renamed(function, name)
        && matches!(function.code, Code::Declared)
        && let Some(known) = known(function)
    {
        return Ok(known.declaration.map(|declaration| format!("{declaration};")));
    }
    let head = head(prelude, function, name, None)?;
    let label = if is_renamed(function, name) && !function.internal {
        format!(" __asm__(\"{}\")", function.name.escape_default())
    } else {
        String::new()
    };
    Ok(Some(format!("{head}{label};")))
}

/// Whether a call can use the function's name; if not, it needs a cast of the address.
fn fits(function: &Function, args: &[Type], result: &Type) -> bool {
    let named = function.params.len();
    (args.len() == named || function.variadic && args.len() > named)
        && function.params.iter().zip(args).all(|(param, arg)| param.ty == *arg)
        && function.result == *result
}

impl Writer<'_> {
    /// A call as an expression.
    pub fn call(&mut self, op: &Op, ty: &Type) -> Result<Expr, String> {
        let Op::Call { callee, args, variadic, attributes } = op else {
            return Err("a malformed call".into());
        };
        let types: Vec<Type> = args.iter().map(|arg| self.body.type_of(arg)).collect();
        if let Some(id) = called(op) {
            let function = self.function_of(id)?;
            if function.name.starts_with("llvm.") {
                return self.intrinsic(&function.name.clone(), args, ty);
            }
            if fits(function, &types, ty) {
                return self.call_by_name(id, args);
            }
        }
        let mut names = Vec::new();
        let mut parts = Vec::new();
        let named = variadic.unwrap_or(args.len());
        for (at, arg) in args.iter().enumerate() {
            let said = attributes.params.get(at);
            if at < named {
                names.push(parameter_type(self.prelude, &types[at], said)?);
            }
            parts.push(self.passed(arg, said, if at < named { Passing::Named } else { Passing::Unnamed })?);
        }
        match (variadic.is_some(), names.is_empty()) {
            (true, false) => names.push("...".into()),
            (false, true) => names.push("void".into()),
            _ => {}
        }
        let returns =
            attributes.params.first().is_some_and(|param| param.sret.is_some()) && *ty == Type::Void;
        let result = if returns { "void *".to_string() } else { self.prelude.name(ty)? };
        let callee = self.expr(callee, Want::Exact)?;
        let target = format!("(({} (*)({})){})", result.trim_end(), names.join(", "), callee.at(15));
        Ok(self.applied(&target, &parts, exact(ty)).reading(&[&callee]))
    }

    fn function_of(&self, id: FunctionId) -> Result<&Function, String> {
        self.module
            .functions
            .get(id.0 as usize)
            .ok_or_else(|| "a call of a function that isn't there".to_string())
    }

    fn call_by_name(&mut self, id: FunctionId, args: &[Operand]) -> Result<Expr, String> {
        let module = self.module;
        let function = &module.functions[id.0 as usize];
        let mut parts = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let param = function.params.get(at);
            let passing = if param.is_some() { Passing::Named } else { Passing::Unnamed };
            parts.push(self.passed(arg, param.map(|param| &param.attributes), passing)?);
        }
        let name = self.symbols.function(id).to_string();
        let ty = match (&function.result, function.result_extension) {
            (Type::Int(_), _) if name == "main" => CType::Signed(32),
            (Type::Int(bits), Some(Extension::Sign)) => CType::Signed(container(*bits)),
            (ty, _) => exact(ty),
        };
        let is_known = matches!(function.code, Code::Declared) && !is_renamed(function, &name);
        let ty = known(function).filter(|_| is_known).map_or(ty, |known| known.result);
        Ok(self.applied(&name, &parts, ty))
    }

    fn applied(&self, target: &str, parts: &[Expr], ty: CType) -> Expr {
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        Expr::new(format!("{target}({})", texts.join(", ")), 16, ty)
            .reading(&parts.iter().collect::<Vec<_>>())
    }

    fn passed(
        &mut self,
        arg: &Operand,
        attributes: Option<&ParamAttributes>,
        passing: Passing,
    ) -> Result<Expr, String> {
        if let Some((size, align)) = attributes.and_then(|attributes| attributes.byval) {
            let ty = self.prelude.by_value(size, align);
            let name = format!("load_bytes{size}_{align}");
            self.prelude.helper(&format!(
                "static inline {ty} {name}(const void *p) {{ {ty} v; memcpy(&v, p, {size}); return v; }}"
            ));
            let source = self.source(arg)?;
            return Ok(Expr::new(format!("{name}({})", source.text), 16, CType::Other).reading(&[&source]));
        }
        match passing {
            Passing::Named => self.argument(arg),
            Passing::Unnamed => self.expr(arg, Want::Exact),
        }
    }

    /// An argument for a parameter of the argument's type.
    pub fn argument(&mut self, arg: &Operand) -> Result<Expr, String> {
        match arg {
            Operand::Const(Const::Global(id, 0)) => {
                Ok(Expr::new(self.symbols.argument(*id), 15, CType::Other))
            }
            _ => {
                let is_whole = matches!(self.body.type_of(arg), Type::Int(bits) if container(bits) == bits);
                self.expr(arg, if is_whole { Want::Modulo } else { Want::Number })
            }
        }
    }
}

/// The conversion of an argument.
#[derive(Clone, Copy)]
enum Passing {
    /// To the type of its parameter.
    Named,
    /// None, because the argument belongs to `...`.
    Unnamed,
}

fn exact(ty: &Type) -> CType {
    match ty {
        Type::Int(bits) => CType::Unsigned(container(*bits)),
        _ => CType::Other,
    }
}

/// The declarations of all functions that the text needs.
pub(super) fn declarations(
    module: &crate::ir::Module,
    symbols: &Symbols,
    prelude: &mut Prelude,
) -> Result<String, (String, String)> {
    let mut text = String::new();
    for &at in &symbols.needed_functions {
        let function = &module.functions[at as usize];
        let declaration = declaration(prelude, function, symbols.function(FunctionId(at)))
            .map_err(|what| (function.name.to_string(), what))?;
        if let Some(declaration) = declaration {
            if module.weak.contains(&function.name) {
                text.push_str("__attribute__((weak)) ");
            }
            text.push_str(&declaration);
            text.push('\n');
        }
    }
    Ok(text)
}
