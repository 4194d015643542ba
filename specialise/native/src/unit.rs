//! The state of loading a module: its functions and variables in Cranelift, and the addresses of foreign names.

use crate::abi;
use crate::error::{Attempt, NativeError, Refusal, refuse};
use crate::memory::Loaded;
use crate::native::Native;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{
    DataId, FuncId, Linkage, Module as _, ModuleReloc, ModuleRelocTarget, default_libcall_names,
};
use drystone_specialise::ir::{Code, Const, FunctionId, GlobalId, Module};
use std::collections::HashMap;

/// Address space that is kept free for a module: all of it is within reach of each call and each access in it.
const REACH: usize = 1 << 30;

/// Functions of the C library that translated code may call without the module's declaring them, so that `symbols` is
/// asked for them, too.
const LIBRARY: &[&str] = &["memcpy", "memmove", "memset", "__divti3", "__udivti3", "__modti3", "__umodti3"];

/// The remainder that `frem` means.
extern "C" fn remainder(a: f64, b: f64) -> f64 {
    a % b
}

/// The same of 32 bits.
extern "C" fn remainder_single(a: f32, b: f32) -> f32 {
    a % b
}

/// A module on its way into memory.
pub(crate) struct Unit<'a> {
    /// The module.
    pub module: &'a Module,
    /// Where it is put.
    pub jit: JITModule,
    functions: Vec<Option<FuncId>>,
    globals: Vec<Option<DataId>>,
    library: HashMap<String, FuncId>,
    variadic: HashMap<(FuncId, u32), Vec<(Signature, FuncId)>>,
}

impl<'a> Unit<'a> {
    /// An empty module.
    pub fn new(
        module: &'a Module,
        symbols: &dyn Fn(&str) -> Option<*const u8>,
    ) -> Result<Unit<'a>, NativeError> {
        let mut builder =
            JITBuilder::with_isa(machine().map_err(Refusal::at_large)?, default_libcall_names());
        let arena = ArenaMemoryProvider::new_with_size(REACH)
            .map_err(|error| Refusal(format!("the system gives no address space: {error}")).at_large())?;
        builder.memory_provider(Box::new(arena));
        builder.symbol("drystone remainder", remainder as *const u8);
        builder.symbol("drystone remainder_single", remainder_single as *const u8);
        let functions =
            module.functions.iter().filter(|f| matches!(f.code, Code::Declared)).map(|f| &*f.name);
        let globals = module.globals.iter().filter(|g| g.initial.is_none()).map(|g| &*g.name);
        for name in functions.chain(globals).chain(LIBRARY.iter().copied()) {
            if let Some(address) = symbols(name) {
                builder.symbol(name, address);
            }
        }
        Ok(Unit {
            module,
            jit: JITModule::new(builder),
            functions: vec![None; module.functions.len()],
            globals: vec![None; module.globals.len()],
            library: HashMap::new(),
            variadic: HashMap::new(),
        })
    }

    /// What Cranelift calls a function of the module.
    pub fn function(&mut self, id: FunctionId) -> Attempt<FuncId> {
        let Some(function) = self.module.functions.get(id.0 as usize) else {
            return refuse(format!("there is no function {} in the module", id.0));
        };
        if let Some(known) = self.functions[id.0 as usize] {
            return Ok(known);
        }
        let linkage = match (&function.code, function.internal) {
            (Code::Declared, _) => Linkage::Preemptible,
            (_, true) => Linkage::Local,
            (_, false) => Linkage::Export,
        };
        let signature = abi::of_function(function)
            .map_err(|Refusal(reason)| Refusal(format!("the function `{}`: {reason}", function.name)))?;
        let known = self.jit.declare_function(whole(&function.name)?, linkage, &signature)?;
        self.functions[id.0 as usize] = Some(known);
        Ok(known)
    }

    /// What Cranelift calls a global variable of the module.
    pub fn global(&mut self, id: GlobalId) -> Attempt<DataId> {
        let Some(global) = self.module.globals.get(id.0 as usize) else {
            return refuse(format!("there is no variable {} in the module", id.0));
        };
        if let Some(known) = self.globals[id.0 as usize] {
            return Ok(known);
        }
        if global.thread_local {
            return refuse(format!(
                "the variable `{}` is one of each thread's own, which code loaded into a process can't have",
                global.name
            ));
        }
        let linkage = match (&global.initial, global.internal) {
            (None, _) => Linkage::Preemptible,
            (_, true) => Linkage::Local,
            (_, false) => Linkage::Export,
        };
        let known = self.jit.declare_data(whole(&global.name)?, linkage, !global.constant, false)?;
        self.globals[id.0 as usize] = Some(known);
        Ok(known)
    }

    /// A function that the module needn't declare.
    pub fn library(&mut self, name: &str, signature: &Signature) -> Attempt<FuncId> {
        if let Some(known) = self.module.function(name) {
            return self.function(known);
        }
        if let Some(known) = self.library.get(name) {
            return Ok(*known);
        }
        let known = self.jit.declare_function(name, Linkage::Preemptible, signature)?;
        self.library.insert(name.to_owned(), known);
        Ok(known)
    }

    /// A way into a variadic function: System V wants the number of vector registers with arguments in `al`, which
    /// Cranelift can't set.
    pub fn variadic(&mut self, function: FuncId, vectors: u32, signature: &Signature) -> Attempt<FuncId> {
        let known = self.variadic.entry((function, vectors)).or_default();
        if let Some((_, entry)) = known.iter().find(|(of, _)| of == signature) {
            return Ok(*entry);
        }
        let entry = self.jit.declare_anonymous_function(signature)?;
        known.push((signature.clone(), entry));
        // mov eax, vectors; movabs r11, function; jmp r11
        let mut code = vec![0xb8];
        code.extend(vectors.to_le_bytes());
        code.extend([0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3]);
        let target = ModuleReloc { offset: 7, kind: Reloc::Abs8, name: function.into(), addend: 0 };
        self.jit.define_function_bytes(entry, 16, &code, &[target])?;
        Ok(entry)
    }

    /// Whether the machine has an instruction set, by Cranelift's name.
    pub fn has(&self, feature: &str) -> bool {
        self.jit.isa().isa_flags().iter().any(|flag| flag.name == feature && flag.as_bool() == Some(true))
    }

    /// Fills in all addresses and lets the code be run.
    pub fn finish(mut self) -> Result<Native, NativeError> {
        self.find_foreign_names().map_err(Refusal::at_large)?;
        self.jit.finalize_definitions().map_err(|error| Refusal::from(error).at_large())?;
        let mut functions = HashMap::new();
        for (function, known) in self.module.functions.iter().zip(&self.functions) {
            if let (Some(known), false) = (known, matches!(function.code, Code::Declared)) {
                functions.insert(function.name.to_string(), self.jit.get_finalized_function(*known));
            }
        }
        let mut globals = HashMap::new();
        for (global, known) in self.module.globals.iter().zip(&self.globals) {
            if let (Some(known), true) = (known, global.initial.is_some()) {
                globals.insert(global.name.to_string(), self.jit.get_finalized_data(*known).0);
            }
        }
        for alias in &self.module.aliases {
            let target = match &alias.target {
                Const::Function(id) => self.functions.get(id.0 as usize).copied().flatten(),
                _ => None,
            };
            if let Some(target) = target {
                functions.insert(alias.name.to_string(), self.jit.get_address(&target.into()));
            }
        }
        Ok(Native { functions, globals, _loaded: Loaded::new(self.jit) })
    }

    /// Cranelift would leave an undefined name at address zero.
    fn find_foreign_names(&self) -> Attempt<()> {
        let declarations = self.jit.declarations();
        let functions = declarations
            .get_functions()
            .filter(|(_, function)| function.linkage == Linkage::Preemptible)
            .map(|(id, function)| (ModuleRelocTarget::from(id), function.linkage_name(id)));
        let globals = declarations
            .get_data_objects()
            .filter(|(_, global)| global.linkage == Linkage::Preemptible)
            .map(|(id, global)| (ModuleRelocTarget::from(id), global.linkage_name(id)));
        let mut missing = functions
            .chain(globals)
            .filter(|(id, _)| self.jit.get_address(id).is_null())
            .map(|(_, name)| name);
        match missing.next() {
            Some(name) => refuse(format!(
                "`{name}` is used, but neither defined, nor given by the caller, nor exported by this process"
            )),
            None => Ok(()),
        }
    }
}

/// A name that the system's linker can be asked for.
fn whole(name: &str) -> Attempt<&str> {
    match name.contains('\0') {
        true => refuse(format!("the name {name:?} holds a zero byte")),
        false => Ok(name),
    }
}

/// The machine that this process runs on.
fn machine() -> Attempt<OwnedTargetIsa> {
    let mut flags = settings::builder();
    let settings = [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // 128-bit integers are passed as C passes them.
        ("enable_llvm_abi_extensions", "true"),
        // What is wrong with the module's types becomes an error instead of a panic.
        ("enable_verifier", "true"),
        ("enable_table_access_spectre_mitigation", "false"),
        // How quick a short function is depends on where its lines of the cache begin.
        ("log2_min_function_alignment", "6"),
        ("unwind_info", "false"),
    ];
    for (name, value) in settings {
        flags.set(name, value).map_err(|error| Refusal(format!("Cranelift's setting {name}: {error}")))?;
    }
    if !cfg!(target_arch = "x86_64") {
        return refuse("code is made for x86-64 only");
    }
    let builder = cranelift_native::builder().map_err(|error| Refusal(format!("Cranelift: {error}")))?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| Refusal(format!("Cranelift: {error}")))
}
