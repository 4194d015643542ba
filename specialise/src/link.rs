//! Joins modules into one, as a linker joins object files. An exported name means the same in all modules; an internal
//! name stays separate, and is renamed if necessary.
//!
//! Unread bodies stay unread. When they are read, their names are looked up in the joined module.

mod error;
mod join;
mod names;
mod relink;

pub use error::LinkError;

use crate::ir::Module;

/// Joins several modules into one.
pub fn link(modules: Vec<Module>) -> Result<Module, LinkError> {
    let winners = names::choose(&modules)?;
    let targets = names::targets(&modules, &winners)?;
    join::join(modules, &winners, targets)
}

#[cfg(test)]
mod tests {
    use super::{LinkError, link};
    use crate::ir::{Const, GlobalId, Module, Op, Operand};
    use crate::parse::read;

    fn module(name: &str, text: &str) -> Module {
        read(text, name).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The function that the first instruction of a function calls.
    fn called(linked: &Module, from: &str) -> String {
        let body = linked.body(linked.function(from).unwrap()).unwrap().unwrap();
        match &body.blocks[0].instructions[0].op {
            Op::Call { callee: Operand::Const(Const::Function(id)), .. } => {
                linked.functions[id.0 as usize].name.to_string()
            }
            op => panic!("{op:?}"),
        }
    }

    #[test]
    fn declarations_find_definitions_and_internal_names_stay_apart() {
        let a = module(
            "a.ll",
            "declare void @f()
             define internal void @own() { ret void }
             define void @main() { call void @f() ret void }
             define void @a() { call void @own() ret void }",
        );
        let b = module(
            "b.ll",
            "define internal void @own() { ret void }
             define void @f() { call void @own() ret void }",
        );
        let first = a.function("main").unwrap();
        a.body(first).unwrap();
        let linked = link(vec![a, b]).unwrap();
        assert_eq!(linked.functions.len(), 5);
        assert_eq!(called(&linked, "main"), "f");
        assert_eq!(called(&linked, "a"), "own");
        assert_eq!(called(&linked, "f"), "own.1");
        assert_eq!(linked.functions.iter().filter(|function| &*function.name == "f").count(), 1);
    }

    #[test]
    fn weak_gives_way_and_strong_does_not() {
        let weak = "define weak void @f() { unreachable } define void @w() { call void @f() ret void }";
        let weak = || module("weak.ll", &weak.replace("} define", "}\ndefine"));
        let strong = |name| module(name, "define void @f() { ret void }");
        let linked = link(vec![weak(), strong("a.ll")]).unwrap();
        let body = linked.body(linked.function("f").unwrap()).unwrap().unwrap();
        assert_eq!(body.blocks[0].terminator, crate::ir::Terminator::Return(None));
        assert_eq!(called(&linked, "w"), "f");
        let error = link(vec![strong("a.ll"), weak(), strong("b.ll")]).unwrap_err();
        let twice = LinkError::Twice { name: "f".into(), first: "a.ll".into(), second: "b.ll".into() };
        assert_eq!(error, twice);
    }

    #[test]
    fn variables_aliases_and_lists_are_joined() {
        let a = module(
            "a.ll",
            "@x = external global i32
             @y = external global i32
             @p = global [2 x ptr] [ptr @x, ptr getelementptr (i8, ptr @y, i64 2)]
             @c = common global i32 0
             @llvm.used = appending global [1 x ptr] [ptr @p]",
        );
        let b = module(
            "b.ll",
            "@s = internal global [4 x i32] zeroinitializer
             @y = alias i32, getelementptr (i8, ptr @s, i64 4)
             @x = global i32 7
             @c = common global i64 0
             @llvm.used = appending global [1 x ptr] [ptr @x]",
        );
        let linked = link(vec![a, b]).unwrap();
        let global = |name| &linked.globals[linked.global(name).unwrap().0 as usize];
        let (x, s) = (linked.global("x").unwrap(), linked.global("s").unwrap());
        let Some(Const::Aggregate(_, elements)) = &global("p").initial else { panic!() };
        assert_eq!(**elements, [Const::Global(x, 0), Const::Global(s, 6)]);
        assert_eq!(global("c").ty, crate::ir::Type::Int(64));
        assert_eq!(linked.aliases[0].target, Const::Global(s, 4));
        let Some(Const::Aggregate(_, used)) = &global("llvm.used").initial else { panic!() };
        assert_eq!(**used, [Const::Global(linked.global("p").unwrap(), 0), Const::Global(x, 0)]);
        assert_ne!(x, GlobalId(u32::MAX));
    }
}
