//! Memory layout: slots and variables in instances, variables in frames.

use std::collections::HashMap;

use drystone_component::{Interface as Model, Kind};
use drystone_language::handlers;
use drystone_language::program::*;
use drystone_runtime::layout::{FrameHead, Instance, Kept, OfferedSlot, PAYLOAD, Process, RequiredSlot};

use crate::classify::{BodyKey, Facts, is_held};
use crate::mir::{OwnedSlot, Shape};

/// Layout of an instance: offsets in bytes from its start.
#[derive(Clone, Debug)]
pub struct InstanceLayout {
    /// Its size.
    pub size: u32,
    /// The pointer to the main process; 0 if there is none.
    pub main_process: u32,
    /// The slot of each offered interface.
    pub offered: Vec<u32>,
    /// For each offered interface, whether anything in the program is connected there.
    pub connectable: Vec<bool>,
    /// For each offered interface without an implementation: the slot that leads inward.
    pub inward: Vec<Option<u32>>,
    /// The slot of each required interface.
    pub required: Vec<u32>,
    /// The variables that handlers use: where `Kept` begins, and how many words they take.
    pub kept: Option<(u32, u32)>,
}

/// Layout of the frame of a body or procedure.
#[derive(Clone, Debug)]
pub struct FrameLayout {
    /// Size of its head and of the variables in memory.
    pub size: u32,
    /// What must be freed, in order of declaration.
    pub owned: Vec<OwnedSlot>,
    /// Offsets in the process block that procedures must know.
    pub shape: Shape,
}

/// Layouts of a whole program.
pub struct Layouts {
    /// One for each record.
    pub records: Vec<RecordLayout>,
    /// One for each template.
    pub instances: Vec<InstanceLayout>,
    /// Bodies, by key.
    pub bodies: HashMap<BodyKey, FrameLayout>,
    /// One for each procedure.
    pub procedures: Vec<FrameLayout>,
    /// Offsets of variables in memory: in the instance, process or frame of their owner.
    pub variables: HashMap<VariableId, u32>,
}

/// What a variable, or a word of a message, holds. To the runtime, what keeps a record or a sequence keeps a text.
pub fn kind_of(ty: &Type) -> Kind {
    match ty {
        Type::Boolean | Type::Character => Kind::Byte,
        Type::Integer | Type::Real => Kind::Word,
        Type::Text | Type::Record(_) | Type::Sequence(_) => Kind::Text,
        Type::Component(_) | Type::Any(_) => Kind::Component,
    }
}

/// Where the fields of a record are.
#[derive(Clone, Debug)]
pub struct RecordLayout {
    /// How many words the record has: one for each field.
    pub words: u32,
    /// How many of the first of them are texts or records.
    pub owned: u32,
    /// The word of each field.
    pub word_of: Vec<u32>,
}

impl RecordLayout {
    fn of(record: &Record) -> RecordLayout {
        let owned = record.fields.iter().filter(|(_, ty)| is_held(ty)).count() as u32;
        let (mut next_owned, mut next_plain) = (0..owned, owned..);
        let word = |(_, ty): &(String, Type)| {
            if is_held(ty) { next_owned.next() } else { next_plain.next() }.expect("there is a word for each")
        };
        let word_of = record.fields.iter().map(word).collect();
        RecordLayout { words: record.fields.len() as u32, owned, word_of }
    }
}

/// What a variable's own storage holds.
pub fn variable_kind(variable: &Variable) -> Kind {
    if variable.collection.is_some() { Kind::Collection } else { kind_of(&variable.ty) }
}

/// Words that the largest message of an interface needs.
pub fn payload_words(interface: &Interface) -> usize {
    interface.messages.iter().map(|message| message.values.len()).max().unwrap_or(0)
}

/// How many messages the buffer of an interface holds behind the first.
pub fn queued(interface: &Interface) -> usize {
    match interface.capacity {
        1 => 0,
        more => (more - 1).next_power_of_two(),
    }
}

impl Layouts {
    /// Computes the layouts of a program.
    pub fn of(program: &Program, facts: &Facts) -> Layouts {
        let mut layouts = Layouts {
            records: program.records.iter().map(RecordLayout::of).collect(),
            instances: Vec::new(),
            bodies: HashMap::new(),
            procedures: Vec::new(),
            variables: HashMap::new(),
        };
        for (index, component) in program.components.iter().enumerate() {
            let id = ComponentId(index as u32);
            let instance = layouts.instance(program, facts, id);
            layouts.instances.push(instance);
            let head = size_of::<Process>() as u32;
            layouts.body(program, facts, BodyKey::Main(id), head, &[]);
            layouts.body(program, facts, BodyKey::Finally(id), head, &[]);
            for (number, implementation) in component.implementations.iter().enumerate() {
                let interface = component.offers[implementation.offered].interface;
                let interface = &program.interfaces[interface.index()];
                let words = Model::buffer_words(payload_words(interface), queued(interface));
                let head = (PAYLOAD + 8 * words) as u32;
                layouts.body(program, facts, BodyKey::Service(id, number), head, &implementation.variables);
            }
        }
        for procedure in &program.procedures {
            let variables = procedure.parameters.iter().chain(&procedure.variables);
            let (size, owned) = layouts.place(program, facts, size_of::<FrameHead>() as u32, variables);
            layouts.procedures.push(FrameLayout { size, owned, shape: Shape::default() });
        }
        layouts
    }

    fn instance(&mut self, program: &Program, facts: &Facts, id: ComponentId) -> InstanceLayout {
        let component = &program.components[id.index()];
        let mut size = size_of::<Instance>() as u32;
        let mut take = |bytes: usize| {
            let offset = size;
            size += bytes as u32;
            offset
        };
        let has_main = component.begin.is_some() || component.activity.is_some();
        let main_process = if has_main { take(8) } else { 0 };
        let implemented = |index| component.implementations.iter().any(|i| i.offered == index);
        let connectable: Vec<bool> = (0..component.offers.len())
            .map(|index| facts.connected.contains(&(id, index)) || !implemented(index))
            .collect();
        let offered = connectable.iter().map(|&connectable| take(OfferedSlot::size(connectable))).collect();
        let inward = (0..component.offers.len())
            .map(|index| (!implemented(index)).then(|| take(size_of::<RequiredSlot>())))
            .collect();
        let required = component
            .requires
            .iter()
            .map(|facet| take(if facet.cardinality.is_some() { 8 } else { size_of::<RequiredSlot>() }))
            .collect();
        let kept_variables = handlers::kept(program, id);
        let is_own = |v: &&VariableId| !kept_variables.contains(v);
        let is_byte = |v: &&VariableId| variable_kind(&program.variables[v.index()]) == Kind::Byte;
        let own = || component.variables.iter().filter(is_own);
        let has_handlers = component.implementations.iter().any(|it| it.handler);
        let kept = has_handlers.then(|| {
            let words = (Kept::HEAD + kept_variables.len()) as u32;
            let begin = take(Kept::WORDS);
            take(8 * Kept::HEAD);
            // Bytes too: they are words to handlers.
            for &variable in &kept_variables {
                self.variables.insert(variable, take(8));
            }
            (begin, words)
        });
        for &variable in own().filter(|v| !is_byte(v)) {
            self.variables.insert(variable, take(8));
        }
        for &variable in own().filter(is_byte) {
            self.variables.insert(variable, take(1));
        }
        InstanceLayout {
            size: size.next_multiple_of(8),
            main_process,
            offered,
            connectable,
            inward,
            required,
            kept,
        }
    }

    fn body(&mut self, program: &Program, facts: &Facts, key: BodyKey, head: u32, variables: &[VariableId]) {
        let (frames, awaits) = facts.needs(key);
        let mut size = head;
        let mut shape = Shape::default();
        if frames {
            shape.frame = size;
            size += 8;
        }
        if awaits {
            shape.condition = size;
            size += 8;
        }
        let (size, owned) = self.place(program, facts, size, variables.iter());
        self.bodies.insert(key, FrameLayout { size, owned, shape });
    }

    fn place<'a>(
        &mut self,
        program: &Program,
        facts: &Facts,
        mut size: u32,
        variables: impl Iterator<Item = &'a VariableId>,
    ) -> (u32, Vec<OwnedSlot>) {
        let mut owned = Vec::new();
        for &id in variables.filter(|id| facts.in_memory.contains(id)) {
            let variable = &program.variables[id.index()];
            self.variables.insert(id, size);
            if crate::classify::is_owned(variable) {
                owned.push(OwnedSlot { offset: size, variable: Some(id), kind: variable_kind(variable) });
            }
            size += 8;
        }
        (size, owned)
    }
}

/// What an instance owns, in order of declaration.
pub fn owned_by_instance(program: &Program, layouts: &Layouts, component: &Component) -> Vec<OwnedSlot> {
    let owned =
        component.variables.iter().filter(|v| crate::classify::is_owned(&program.variables[v.index()]));
    owned
        .map(|&id| OwnedSlot {
            offset: layouts.variables[&id],
            variable: Some(id),
            kind: variable_kind(&program.variables[id.index()]),
        })
        .collect()
}
