//! Collects the functions of a system's code and compiles them to machine code.

use crate::jit::Unsupported;
use crate::jit::by_interpreter::Helper;
use crate::jit::emit;
use crate::jit::program::Program;
use cranelift_codegen::Context as Compilation;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, Signature, Type, UserFuncName, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use entail_ir::ProcessTypeId;
use entail_model::{Deadline, Named};
use std::collections::HashMap;
use std::fmt::Write;

/// Process types with more edges are not compiled: Cranelift's memory would grow with their square.
const MAX_EDGES: u32 = 3000;
/// Systems that need more of Cranelift's instructions are not compiled: it would take about a second.
const MAX_INSTRUCTIONS: usize = 400_000;

/// A function that generated code can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Callee {
    /// All steps of a state.
    Expand,
    /// The steps that a process of this type initiates.
    ExpandOne(ProcessTypeId),
    /// Whether a process of this type could move in a state, which may differ from the expanded one.
    CanMove(ProcessTypeId),
    /// The steps by which a process of this type receives the offered message.
    Accept(ProcessTypeId),
    CanAccept(ProcessTypeId),
    /// The invariant that does not hold in a state, if any.
    Invariants,
    /// The propositions that hold in the expanded state.
    Propositions,
    /// Copies a state.
    Copy,
    Helper(Helper),
}

/// Functions that were requested, and those that were generated.
pub(crate) struct Code {
    module: JITModule,
    declared: HashMap<Callee, FuncId>,
    pending: Vec<(Callee, FuncId)>,
    listing: Option<String>,
    bytes: usize,
    instructions: usize,
}

/// Executable code, freed when this is dropped.
pub(crate) struct Loaded {
    /// `None` only while being dropped.
    module: Option<JITModule>,
    declared: HashMap<Callee, FuncId>,
    pub bytes: usize,
    pub listing: Option<String>,
}

// SAFETY: nothing changes the module after its functions are final, until it is dropped.
unsafe impl Send for Loaded {}
// SAFETY: as above; the functions only access the memory passed to them.
unsafe impl Sync for Loaded {}

/// The effort of compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Spend time on better code. No model was found that gains from it.
    pub optimise: bool,
    /// A function for every process type, even if one for all processes would be small enough.
    pub separate: bool,
}

/// Generates all functions needed to call `wanted`, if there is time; with `listing`, also their text.
pub(crate) fn generate(
    program: &Program<'_>,
    wanted: &[Callee],
    tuning: Tuning,
    listing: bool,
    deadline: Deadline,
) -> Result<Loaded, Unsupported> {
    let edges = |of| program.reach.locations(program.system, of).map(|(_, location)| location.count).sum::<u32>();
    if let Some(of) =
        (0..program.system.process_types.len() as u16).map(ProcessTypeId).find(|of| edges(*of) > MAX_EDGES)
    {
        return Err(Unsupported(format!("{} is too large", program.system.process_type(of).name)));
    }
    let mut code = Code {
        module: module(tuning)?,
        declared: HashMap::new(),
        pending: Vec::new(),
        listing: listing.then(String::new),
        bytes: 0,
        instructions: 0,
    };
    for callee in wanted {
        code.declare(*callee);
    }
    let mut compilation = code.module.make_context();
    compilation.set_disasm(listing);
    let mut builder_context = FunctionBuilderContext::new();
    while let Some((callee, id)) = code.pending.pop() {
        if deadline.is_over() {
            return Err(Unsupported("there is no time to compile it".to_owned()));
        }
        code.define(program, callee, id, &mut compilation, &mut builder_context)?;
    }
    code.module.finalize_definitions().map_err(|problem| Unsupported(problem.to_string()))?;
    let Code { module, declared, bytes, listing, .. } = code;
    Ok(Loaded { module: Some(module), declared, bytes, listing })
}

fn module(tuning: Tuning) -> Result<JITModule, Unsupported> {
    let mut flags = settings::builder();
    let options = [
        ("opt_level", if tuning.optimise { "speed" } else { "none" }),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // No secrets to protect, and no unwinding.
        ("enable_heap_access_spectre_mitigation", "false"),
        ("enable_table_access_spectre_mitigation", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in options {
        flags.set(name, value).expect("a setting of Cranelift");
    }
    let isa = cranelift_native::builder().map_err(|why| Unsupported(format!("no code for this machine: {why}")))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|why| Unsupported(why.to_string()))?;
    if isa.pointer_bits() != 64 || cfg!(target_endian = "big") {
        return Err(Unsupported("no code for this machine: it is not a little-endian one of 64 bits".to_owned()));
    }
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for (name, helper) in Helper::NAMES {
        builder.symbol(*name, helper.address());
    }
    Ok(JITModule::new(builder))
}

impl Code {
    fn declare(&mut self, callee: Callee) -> FuncId {
        if let Some(id) = self.declared.get(&callee) {
            return *id;
        }
        let signature = self.signature(callee);
        let id = if let Callee::Helper(helper) = callee {
            self.module.declare_function(helper.name(), Linkage::Import, &signature)
        } else {
            self.module.declare_anonymous_function(&signature)
        };
        let id = id.expect("no two functions have the same name");
        self.declared.insert(callee, id);
        if !matches!(callee, Callee::Helper(_)) {
            self.pending.push((callee, id));
        }
        id
    }

    /// Declares a callee in `function`.
    pub fn reference(&mut self, callee: Callee, function: &mut Function) -> FuncRef {
        let id = self.declare(callee);
        self.module.declare_func_in_func(id, function)
    }

    pub fn target(&self) -> TargetFrontendConfig {
        self.module.target_config()
    }

    fn signature(&self, callee: Callee) -> Signature {
        const POINTER: Type = types::I64;
        const NUMBER: Type = types::I32;
        const WORD: Type = types::I64;
        let (params, result): (&[Type], Option<Type>) = match callee {
            Callee::Expand => (&[POINTER, POINTER], Some(POINTER)),
            Callee::ExpandOne(_) | Callee::Accept(_) => (&[POINTER, POINTER, NUMBER, WORD], Some(POINTER)),
            Callee::CanMove(_) | Callee::CanAccept(_) => (&[POINTER, POINTER, NUMBER, WORD], Some(NUMBER)),
            Callee::Invariants => (&[POINTER, POINTER], Some(WORD)),
            Callee::Propositions => (&[POINTER], Some(WORD)),
            Callee::Copy => (&[POINTER, POINTER, POINTER], None),
            Callee::Helper(helper) => match helper {
                Helper::Overflow => (&[POINTER], Some(POINTER)),
                Helper::Broken => (&[POINTER, POINTER, WORD, WORD, NUMBER], Some(POINTER)),
                Helper::Failed => (&[POINTER, WORD, NUMBER], None),
                Helper::Fire => (&[POINTER, POINTER, WORD], Some(POINTER)),
                Helper::Steps => (&[POINTER, POINTER, NUMBER, NUMBER], Some(POINTER)),
                Helper::CanMove => (&[POINTER, POINTER], Some(NUMBER)),
                Helper::Pack => (&[POINTER, POINTER], Some(WORD)),
                Helper::Insert | Helper::Remove => (&[POINTER, NUMBER, NUMBER, NUMBER], None),
            },
        };
        let mut signature = self.module.make_signature();
        signature.params.extend(params.iter().map(|part| AbiParam::new(*part)));
        signature.returns.extend(result.map(AbiParam::new));
        signature
    }

    fn define(
        &mut self,
        program: &Program<'_>,
        callee: Callee,
        id: FuncId,
        compilation: &mut Compilation,
        builder_context: &mut FunctionBuilderContext,
    ) -> Result<(), Unsupported> {
        compilation.func.signature = self.signature(callee);
        compilation.func.name = UserFuncName::user(0, id.as_u32());
        emit::function(program, self, callee, &mut compilation.func, builder_context);
        if let Some(listing) = &mut self.listing {
            let _ = writeln!(listing, "; {}\n{}", callee.describe(program), compilation.func.display());
        }
        self.instructions += compilation.func.dfg.num_insts();
        if self.instructions > MAX_INSTRUCTIONS {
            return Err(Unsupported("too much code".to_owned()));
        }
        match self.module.define_function(id, compilation) {
            Ok(()) => {}
            Err(ModuleError::Compilation(problem)) => {
                return Err(Unsupported(format!("{}: {problem:?}", callee.describe(program))));
            }
            Err(problem) => return Err(Unsupported(problem.to_string())),
        }
        if let Some(compiled) = compilation.compiled_code() {
            self.bytes += compiled.code_info().total_size as usize;
            if let (Some(listing), Some(machine_code)) = (&mut self.listing, &compiled.vcode) {
                let _ = writeln!(listing, "{machine_code}");
            }
        }
        self.module.clear_context(compilation);
        Ok(())
    }
}

impl Callee {
    fn describe(self, program: &Program<'_>) -> String {
        let name = |of: ProcessTypeId| &program.system.process_type(of).name;
        match self {
            Callee::Expand => "all steps of a state".to_owned(),
            Callee::ExpandOne(of) => format!("the steps of a process {}", name(of)),
            Callee::CanMove(of) => format!("whether a process {} can move", name(of)),
            Callee::Accept(of) => format!("how a process {} receives what is offered", name(of)),
            Callee::CanAccept(of) => format!("whether a process {} could receive what is offered", name(of)),
            Callee::Invariants => "which invariant does not hold".to_owned(),
            Callee::Propositions => "which propositions hold".to_owned(),
            Callee::Copy => "copies a state".to_owned(),
            Callee::Helper(helper) => helper.name().to_owned(),
        }
    }
}

impl Loaded {
    /// The address of a function, if it exists.
    pub fn address(&self, callee: Callee) -> Option<*const u8> {
        let module = self.module.as_ref()?;
        self.declared.get(&callee).map(|id| module.get_finalized_function(*id))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: only the owner of this value has addresses of the code.
            unsafe { module.free_memory() };
        }
    }
}
