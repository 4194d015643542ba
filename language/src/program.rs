//! The checked program: the result of `check`, and the input of the compiler and of the reference interpreter.
//!
//! Every name is resolved to an index, every expression has its type, conversions are explicit, constants are folded. A
//! program with errors has no such form, so users of it check nothing again.

use std::collections::BTreeSet;

use crate::ast::Direction;
use crate::source::{Diagnostic, Span};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the program's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// Index into [`Program::interfaces`].
    InterfaceId
);
id!(
    /// Index into [`Program::components`].
    ComponentId
);
id!(
    /// Index into [`Program::procedures`].
    ProcedureId
);
id!(
    /// Index into [`Program::variables`].
    VariableId
);
id!(
    /// Index into [`Program::records`].
    RecordId
);

impl RecordId {
    /// `Fault`, the only record that the system declares: what FAULT gives.
    pub const FAULT: RecordId = RecordId(0);
}

id!(
    /// Index into [`Program::composites`].
    CompositeId
);

/// A whole checked program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Interfaces; two declarations with the same name and the same protocol are one.
    pub interfaces: Vec<Interface>,
    /// Records. Of two declarations with the same name and the same fields, types mention the first.
    pub records: Vec<Record>,
    /// Component templates, inner ones too.
    pub components: Vec<Component>,
    /// Procedures of all scopes.
    pub procedures: Vec<Procedure>,
    /// Variables of all scopes: of components, implementations, procedures, and parameters.
    pub variables: Vec<Variable>,
    /// The composite blocks, which may be shipped.
    pub composites: Vec<Composite>,
    /// The component that starts.
    pub entry: Option<ComponentId>,
    /// The native components of the entry, if it is a system.
    pub system: Option<System>,
    /// The files that other files import. The entry is in none of them.
    pub imported: BTreeSet<u32>,
    /// Warnings, in order of place.
    pub warnings: Vec<Diagnostic>,
}

impl Program {
    /// The statements of all its components and procedures.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let procedures = self.procedures.iter().map(|procedure| &procedure.body);
        self.components.iter().flat_map(Component::blocks).chain(procedures)
    }

    /// What parameters are in a message: see [`Message::values`].
    pub fn values_of(&self, parameters: &[(String, Type)]) -> Vec<(String, Type)> {
        let of = |(name, ty): &(String, Type)| match ty {
            Type::Record(id) => {
                let fields = self.values_of(&self.records[id.index()].fields);
                fields.into_iter().map(|(field, ty)| (format!("{name}.{field}"), ty)).collect()
            }
            plain => vec![(name.clone(), plain.clone())],
        };
        parameters.iter().flat_map(of).collect()
    }

    /// The form of a value: see `drystone_component::form`.
    pub fn form(&self, ty: &Type) -> String {
        match ty {
            Type::Boolean => "b".into(),
            Type::Character => "c".into(),
            Type::Integer => "i".into(),
            Type::Real => "r".into(),
            Type::Text => "t".into(),
            Type::Sequence(element) => format!("[{}", self.form(element)),
            Type::Record(id) => {
                let fields = self.records[id.index()].fields.iter();
                let fields: Vec<_> = fields.map(|(name, ty)| format!("{name}:{}", self.form(ty))).collect();
                format!("({})", fields.join(","))
            }
            Type::Component(_) | Type::Any(_) => unreachable!("a component is no value"),
        }
    }

    /// The variables that an owner declares, without parameters.
    pub(crate) fn variables_of(&mut self, owner: Owner) -> &mut Vec<VariableId> {
        match owner {
            Owner::Program => unreachable!("variables do not stand at the top level"),
            Owner::Component(id) => &mut self.components[id.index()].variables,
            Owner::Implementation(id, index) => {
                &mut self.components[id.index()].implementations[index].variables
            }
            Owner::Procedure(id) => &mut self.procedures[id.index()].variables,
        }
    }
}

/// A system of native components, as it is put together before it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Its needed parts, in the order in which they begin: each after the parts that it requires.
    pub parts: Vec<Part>,
    /// For each interface that the system offers, in order, the part that serves it: an index into [`System::parts`].
    pub offers: Vec<usize>,
}

/// A component of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The variables by which it is reached, from the outermost system inward.
    pub path: Vec<VariableId>,
    /// Its template.
    pub component: ComponentId,
    /// For each interface that it requires, in order, the part that serves it.
    pub bound: Vec<usize>,
}

/// An interface with its protocol compiled.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Where it is declared (a default span for predeclared ones).
    pub span: Span,
    /// Its messages; a name may occur once as `IN` and once as `OUT`.
    pub messages: Vec<Message>,
    /// The deterministic automaton of the protocol; state 0 is the start.
    pub states: Vec<State>,
    /// The Rust trait that it is, for native components: no message is ever exchanged.
    pub native: Option<String>,
    /// How many messages the buffer of a communication holds; of several declarations the most.
    pub capacity: usize,
}

impl Interface {
    /// The greatest capacity. Each communication has the memory for it.
    pub const MOST_CAPACITY: usize = 1024;

    /// Whether the compiler added it for a block that may be shipped. It is no part of a component's identity.
    pub fn is_for_block(&self) -> bool {
        self.name == drystone_component::Interface::FOR_BLOCK
    }
}

/// A message of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its name.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// The names and types of its parameters.
    pub parameters: Vec<(String, Type)>,
    /// What it carries, in this order: its parameters, where a record is its fields one after another, each named by
    /// its path: `from.x`. So none of these is a record.
    pub values: Vec<(String, Type)>,
}

/// A state of a protocol. All messages that leave it go the same direction (the language refuses others).
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// (index of the message, next state), in ascending order of messages.
    pub transitions: Vec<(usize, usize)>,
    /// The communication may end here.
    pub may_end: bool,
}

/// A record: a value of several fields.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// The names and types of its fields, none of which is a component.
    pub fields: Vec<(String, Type)>,
}

/// Types (language reference, section 3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `BOOLEAN`
    Boolean,
    /// `CHARACTER`, one byte.
    Character,
    /// `INTEGER`, 64-bit signed.
    Integer,
    /// `REAL`, IEEE double.
    Real,
    /// `TEXT`, a byte string with value semantics.
    Text,
    /// A record, by value.
    Record(RecordId),
    /// Any number of values of a type, by value.
    Sequence(Box<Type>),
    /// A component of this template.
    Component(ComponentId),
    /// Any component with these interfaces.
    Any(AnyType),
}

impl Type {
    /// A component is moved, never copied.
    pub fn is_component(&self) -> bool {
        matches!(self, Type::Component(_) | Type::Any(_))
    }

    /// Bare `ANY`: any component, or in the heading of a native procedure a value of any type.
    pub fn is_bare_any(&self) -> bool {
        matches!(self, Type::Any(any) if any.offers.is_empty() && any.requires.is_none())
    }
}

/// `ANY(offers | requires)`: offers at least, requires at most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnyType {
    /// Must be offered.
    pub offers: Vec<Facet>,
    /// May be required; `None` for bare `ANY`: anything.
    pub requires: Option<Vec<Facet>>,
}

/// An offered or required interface of a component.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facet {
    /// The interface.
    pub interface: InterfaceId,
    /// The cardinality, if one is written: required slots are then indexed from 1, an offered interface limits
    /// its clients.
    pub cardinality: Option<Cardinality>,
}

/// `[from..to]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cardinality {
    /// At least.
    pub from: u32,
    /// At most; `None` for `*`.
    pub to: Option<u32>,
}

/// A component template.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// The template around it.
    pub outer: Option<ComponentId>,
    /// `{ISOLATED}`
    pub isolated: bool,
    /// `{VIRTUAL}` (entry only).
    pub virtual_time: bool,
    /// The Rust type, if it is a native component.
    pub native: Option<String>,
    /// Offered interfaces.
    pub offers: Vec<Facet>,
    /// Required interfaces.
    pub requires: Vec<Facet>,
    /// Its variables, in order of declaration.
    pub variables: Vec<VariableId>,
    /// Its implementations: at most one for each offered interface. An offered interface without one is connected
    /// inward.
    pub implementations: Vec<Implementation>,
    /// `BEGIN`
    pub begin: Option<Block>,
    /// `ACTIVITY`
    pub activity: Option<Block>,
    /// `FINALLY`
    pub finally: Option<Block>,
}

/// The service that a component gives to each client of an offered interface.
#[derive(Clone, Debug)]
pub struct Implementation {
    /// Index into [`Component::offers`].
    pub offered: usize,
    /// Where its name stands.
    pub span: Span,
    /// `{HANDLER}`: it runs where its requests arrive.
    pub handler: bool,
    /// Its own variables, in order of declaration.
    pub variables: Vec<VariableId>,
    /// Its statements.
    pub body: Block,
    /// Its FINALLY, which is executed however the service ends.
    pub finally: Option<Block>,
}

impl Component {
    /// The statements of all its processes.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let own = [&self.begin, &self.activity, &self.finally].into_iter().flatten();
        own.chain(self.implementations.iter().flat_map(Implementation::blocks))
    }
}

impl Implementation {
    /// All its statements.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        [&self.body].into_iter().chain(&self.finally)
    }
}

/// Who declares a variable or procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The program: a procedure at the top level of a file.
    Program,
    /// The component.
    Component(ComponentId),
    /// An implementation: component and index into [`Component::implementations`].
    Implementation(ComponentId, usize),
    /// A procedure.
    Procedure(ProcedureId),
}

/// A procedure. It may use the variables of every owner around it.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// If it is {NATIVE}: the name by which a crate carries it, such as `Hash.Sha256`. It has no body then.
    pub native: Option<String>,
    /// Where its name stands.
    pub span: Span,
    /// The owner around it.
    pub owner: Owner,
    /// The component around it. None for a procedure at the top level of a file, which runs in its caller's component.
    pub component: Option<ComponentId>,
    /// In order; each is also a variable with [`Variable::parameter`] set.
    pub parameters: Vec<VariableId>,
    /// Its result.
    pub result: Option<Type>,
    /// Its local variables, without parameters.
    pub variables: Vec<VariableId>,
    /// Its statements.
    pub body: Block,
}

/// What a composite block uses, which may be shipped to its server (language reference, section 9).
#[derive(Clone, Debug)]
pub struct Composite {
    /// The component around it.
    pub component: ComponentId,
    /// Its communications, which end with it. They are of required interfaces; an index is a constant, or a variable
    /// that the block doesn't change.
    pub channels: Vec<Channel>,
    /// Its variables, and how they travel. None is a collection or of component type.
    pub variables: Vec<(VariableId, Travels)>,
}

impl Composite {
    /// The number of a channel among these.
    pub fn number_of(&self, channel: &Channel) -> Option<usize> {
        self.channels.iter().position(|known| known.required() == channel.required())
    }
}

/// Which of several connections a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The only one.
    Only,
    /// The one with this number.
    Constant(i64),
    /// The one whose number is in this variable.
    Variable(VariableId),
    /// The one whose number is computed by an expression.
    Computed,
}

/// How the value of a variable travels with a composite block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travels {
    /// To the server: it is only read.
    In,
    /// Back: the block assigns to it in any case, before it reads it.
    Out,
    /// Both ways: the block may read it and may assign to it.
    Both,
    /// Not at all: it is a variable of a branch within the block.
    Not,
}

/// A variable, collection or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// Present for a collection.
    pub collection: Option<Collection>,
    /// Who declares it.
    pub owner: Owner,
    /// Present for a parameter.
    pub parameter: Option<Passing>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A copy.
    Value,
    /// `VARIABLE`: the caller's variable itself. Never a collection.
    Reference,
}

/// The shape of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    /// Types of the indices: INTEGER, CHARACTER, BOOLEAN or TEXT.
    pub indices: Vec<Type>,
    /// `{ARRAY}`: fixed bounds, made by `NEW(a, n, m)`; indices are all INTEGER.
    pub array: bool,
}

/// How a block or expression holds the component's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockMode {
    /// Alone.
    Exclusive,
    /// With others that share.
    Shared,
}

/// A block of statements. For the body of a loop, the lock is taken in each iteration.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The lock, taken before the first statement and released after the last one, unless it is held already.
    pub lock: Option<LockMode>,
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement and where it stands.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// The whole, for messages at run time.
    pub span: Span,
}

/// Statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `place := value`; never a component.
    Assign(Place, Expression),
    /// `channel!message(arguments)`
    Send {
        /// The communication.
        channel: Channel,
        /// Index into the interface's messages.
        message: usize,
        /// One for each parameter.
        arguments: Vec<Argument>,
    },
    /// `channel?message(targets)`
    Receive {
        /// The communication.
        channel: Channel,
        /// Index into the interface's messages.
        message: usize,
        /// One for each parameter, evaluated when the message has arrived. A target of a component parameter
        /// is a container.
        targets: Vec<Place>,
    },
    /// A procedure, its result dropped.
    Call(ProcedureId, Vec<Argument>),
    /// Conditions with their blocks, and the rest.
    If(Vec<(Expression, Block)>, Option<Block>),
    /// `CASE value OF`: the value is evaluated once. No two labels have a value in common. Without ELSE, a value that
    /// has no branch is an error.
    Case(Expression, Vec<(Vec<Label>, Block)>, Option<Block>),
    /// `CASE channel? OF`: waits until the next message is there, or the other side has closed.
    Arrivals {
        /// The communication; evaluated once.
        channel: Channel,
        /// At least one is a message, and no two are the same.
        branches: Vec<Arrival>,
        /// ELSE: for all that has no branch; it takes no message. Without it, for all that has no branch the last
        /// message that has one is received: that is an error, or ends a service that has lost its client.
        otherwise: Option<Block>,
    },
    /// `SELECT`: waits for the first of several things. If several are there, any of them is taken. At least one is an
    /// arrival or a condition, and at most one is a time.
    Select(Vec<Alternative>),
    /// `WHILE`
    While(Expression, Block),
    /// `REPEAT`
    Repeat(Block, Expression),
    /// `FOR`; bounds and step are evaluated once, `variable` is INTEGER. The step is never 0 when it is a
    /// constant; 0 at run time is an error.
    For {
        /// Assigned before each iteration.
        variable: Place,
        /// First value.
        from: Expression,
        /// Bound, included; the variable never goes past it.
        to: Expression,
        /// Step.
        by: Expression,
        /// What is repeated.
        body: Block,
    },
    /// `FOREACH`: in ascending order; elements removed meanwhile are skipped.
    Foreach {
        /// One for each index of the collection.
        variables: Vec<Place>,
        /// Takes the value of the element.
        element: Option<Place>,
        /// A variable that is a collection.
        collection: VariableId,
        /// What is repeated.
        body: Block,
    },
    /// `BEGIN .. END`
    Block(Block),
    /// `BEGIN {COMPOSITE} .. END`: may run where what it talks to is. Its communications end with it.
    Composite(CompositeId, Block),
    /// `RETURN`
    Return(Option<Expression>),
    /// `EXIT`: leaves the innermost loop.
    Exit,
    /// `NEW(container)`: makes a component of the template.
    NewComponent(Place, ComponentId),
    /// `NEW(container) AT domain`: makes it in another domain.
    NewComponentAt {
        /// The container.
        target: Place,
        /// The template.
        template: ComponentId,
        /// The domain's name: a TEXT.
        domain: Expression,
        /// What BY says, see [`StatementKind::Bind`].
        by: Expression,
    },
    /// `NEW(a[i])` for an element that is not a component: makes it with its initial value; an error if it
    /// is there.
    NewElement(Place),
    /// `NEW(t, n)` for a TEXT: n characters 0X.
    NewText(Place, Expression),
    /// `NEW(s, n)` for a SEQUENCE: n elements with their initial values.
    NewSequence(Place, Expression),
    /// `INSERT(s, i, x)`, or `APPEND(s, x)` without an index: puts an element before that of the index; outside
    /// 0..=length is an error. The place is evaluated first, then the index, then the element.
    Insert(Place, Option<Expression>, Expression),
    /// `REMOVE(s, i)`
    Remove(Place, Expression),
    /// `NEW(a, n, m)` for an `{ARRAY}`: all elements with their initial values; an error if it was made already.
    NewArray(VariableId, Vec<Expression>),
    /// `DELETE(v)` of a container with a component, waits; an error if empty. An element of a collection
    /// goes with its component.
    DeleteComponent(Place),
    /// `DELETE(a[i])` of any other element; an error if absent.
    DeleteElement(Place),
    /// `DELETE(a)` of a whole `{ARRAY}` or other collection: all elements go, in ascending order.
    DeleteCollection(VariableId),
    /// `MOVE(from, to)`
    Move(Place, Place),
    /// `CONNECT(required, offered)`, with what BY says, if it is there: see [`StatementKind::Bind`].
    Connect(ConnectEnd, ConnectEnd, Option<Expression>),
    /// `CONNECT(required, name)`
    Bind {
        /// As in [`StatementKind::Connect`].
        required: ConnectEnd,
        /// Its interface.
        interface: InterfaceId,
        /// A TEXT.
        name: Expression,
        /// What BY says, as a TEXT that is empty without it: for each factory, the outermost first, its name, `;`, the
        /// number of its options, `;`, then each option as its name, `=`, and its value [`Builtin::Counted`].
        by: Expression,
    },
    /// `EXPORT(offered, name)`
    Export {
        /// As the second end of [`StatementKind::Connect`].
        offered: ConnectEnd,
        /// Its interface.
        interface: InterfaceId,
        /// A TEXT.
        name: Expression,
        /// What BY says, see [`StatementKind::Bind`].
        by: Expression,
    },
    /// `DISCONNECT(required)`: also of an inward connection.
    Disconnect(ConnectEnd),
    /// `AWAIT(condition)`; the condition uses variables, constants and functions only.
    Await(Expression),
    /// `INC(place, n)`; DEC is `INC(place, -n)` only where n is a constant, else [`StatementKind::Decrease`].
    Increase(Place, Expression),
    /// `DEC(place, n)`
    Decrease(Place, Expression),
    /// `ASSERT(condition, number)`
    Assert(Expression, Option<Expression>),
    /// `HALT(status)`
    Halt(Expression),
    /// `WRITE(x)`, chosen by the type of x.
    Write(Expression),
    /// `WRITEHEX(n)`
    WriteHex(Expression),
    /// `WRITELINE`
    WriteLine,
    /// `PASSIVATE(n)`: waits n units of time.
    Passivate(Expression),
}

impl StatementKind {
    /// The blocks of a structured statement, in order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            StatementKind::If(branches, otherwise) => {
                branches.iter().map(|(_, block)| block).chain(otherwise).collect()
            }
            StatementKind::Case(_, branches, otherwise) => {
                branches.iter().map(|(_, block)| block).chain(otherwise).collect()
            }
            StatementKind::Arrivals { branches, otherwise, .. } => {
                branches.iter().map(|branch| &branch.block).chain(otherwise).collect()
            }
            StatementKind::Select(alternatives) => alternatives.iter().map(Alternative::block).collect(),
            StatementKind::While(_, body)
            | StatementKind::Repeat(body, _)
            | StatementKind::For { body, .. }
            | StatementKind::Foreach { body, .. }
            | StatementKind::Block(body)
            | StatementKind::Composite(_, body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub enum ConnectEnd {
    /// A facet of a sub-component: `I(x)`, `I[k](x)`, or (as the offered end) `x` with the interface implied.
    Of {
        /// The container.
        component: Place,
        /// Which interface.
        interface: InterfaceId,
        /// k of `I[k](x)`, from 1.
        index: Option<Expression>,
    },
    /// The surrounding component's own offered interface (first argument): index into `offers`.
    OwnOffered(usize),
    /// The surrounding component's own required interface (second argument): index into `requires`, and k
    /// for one with a cardinality.
    OwnRequired(usize, Option<Expression>),
}

/// A label of a branch of CASE.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// From the first to the last, both included: an INTEGER, or the number of a CHARACTER or BOOLEAN.
    Numbers(i64, i64),
    /// A TEXT.
    Text(Vec<u8>),
}

/// A branch of CASE over what arrives.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The message (index into the interface's messages) that it takes; `None` for FINISH.
    pub message: Option<usize>,
    /// One for each parameter: variables of the branch.
    pub targets: Vec<Place>,
    /// Where the message, or FINISH, stands.
    pub span: Span,
    /// What is done, when the message has been taken. It leaves the targets without components.
    pub block: Block,
}

impl Arrival {
    /// The last of the branches that takes a message.
    pub fn last_of(branches: &[Arrival]) -> usize {
        branches.iter().rposition(|branch| branch.message.is_some()).expect("the checker saw one")
    }
}

/// A branch of SELECT.
#[derive(Clone, Debug)]
pub enum Alternative {
    /// A message comes, or the other side has closed. The communication is evaluated before the wait.
    Arrival(Channel, Arrival),
    /// The condition holds. While the process waits, it gives the component's lock up.
    Await(Expression, Block),
    /// Nothing else has come after so many units of time. They are evaluated before the wait.
    After(Expression, Block),
}

impl Alternative {
    /// What is done then.
    pub fn block(&self) -> &Block {
        match self {
            Alternative::Arrival(_, Arrival { block, .. })
            | Alternative::Await(_, block)
            | Alternative::After(_, block) => block,
        }
    }
}

/// What a message or a procedure takes.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value; already converted to the parameter's type.
    Value(Expression),
    /// A component, which leaves its container (in a message), or a `VARIABLE` parameter.
    Place(Place),
}

/// Where a value is kept.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its kind.
    pub kind: PlaceKind,
    /// Type of what is kept there.
    pub ty: Type,
    /// For messages at run time.
    pub span: Span,
}

/// Kinds of places.
#[derive(Clone, Debug)]
pub enum PlaceKind {
    /// A variable that is no collection.
    Variable(VariableId),
    /// An element of a collection.
    Element(VariableId, Vec<Expression>),
    /// A character of a TEXT variable (never of an element).
    Character(VariableId, Box<Expression>),
    /// A field of the record that is kept in a place: an index into [`Record::fields`].
    Field(Box<Place>, usize),
    /// An element of the sequence that is kept in a place. The index is an INTEGER.
    Item(Box<Place>, Box<Expression>),
    /// `v(T)`: the component in `v`, checked at run time to be of the place's type.
    Guarded(Box<Place>),
}

impl Place {
    /// The variable or collection in which it is.
    pub fn variable(&self) -> VariableId {
        match &self.kind {
            PlaceKind::Variable(id) | PlaceKind::Element(id, _) | PlaceKind::Character(id, _) => *id,
            PlaceKind::Field(inner, _) | PlaceKind::Item(inner, _) | PlaceKind::Guarded(inner) => {
                inner.variable()
            }
        }
    }
}

/// A communication, seen from one of its ends.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its kind.
    pub kind: ChannelKind,
    /// Its interface.
    pub interface: InterfaceId,
}

impl Channel {
    /// Which required interface it is (index into `requires`), and which of its connections.
    pub fn required(&self) -> Option<(usize, Slot)> {
        let ChannelKind::Required(index, slot) = &self.kind else { return None };
        let slot = match slot.as_deref().map(|slot| &slot.kind) {
            None => Slot::Only,
            Some(ExpressionKind::Integer(number)) => Slot::Constant(*number),
            Some(ExpressionKind::Read(Place { kind: PlaceKind::Variable(id), .. })) => Slot::Variable(*id),
            Some(_) => Slot::Computed,
        };
        Some((*index, slot))
    }
}

/// Kinds of channels.
#[derive(Clone, Debug)]
pub enum ChannelKind {
    /// In an implementation (and its procedures): the communication with its client. We are the server.
    Service,
    /// A required interface of the surrounding component: index into `requires`, and k for one with a
    /// cardinality. We are the client.
    Required(usize, Option<Box<Expression>>),
    /// An interface offered by a component that is held in a variable. We are the client.
    Held(Box<Place>),
}

/// What a test asks of a communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The next message is this one (index into the interface's messages).
    Message(usize),
    /// Any message is there.
    Any,
    /// The other side has closed.
    Finish,
}

/// An expression with its type. INTEGER to REAL, CHARACTER to TEXT and CHARACTER to INTEGER conversions are explicit.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its type; never a component.
    pub ty: Type,
    /// For messages at run time.
    pub span: Span,
}

/// Expressions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExpressionKind {
    Boolean(bool),
    Character(u8),
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    /// The value kept there.
    Read(Place),
    /// A function procedure.
    Call(ProcedureId, Vec<Argument>),
    Unary(Unary, Box<Expression>),
    /// `And`/`Or` evaluate the right side only if needed.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// A record with these values of fields, which are evaluated in this order. All other fields are 0, FALSE, 0X, 0.0,
    /// "", or such a record.
    Record(Vec<(usize, Expression)>),
    /// A sequence of these elements, which are evaluated in this order.
    List(Vec<Expression>),
    /// A predeclared function; arity and types as in [`Builtin`].
    Builtin(Builtin, Vec<Expression>),
    /// `NUMBER(t, x)`: x is INTEGER or REAL.
    Number(Box<Expression>, Place),
    /// `COUNT(required)`: how many slots of the interface are connected (index into `requires`).
    Count(usize),
    /// Evaluated while the lock is held so.
    Locked(LockMode, Box<Expression>),
    /// Waits until the answer is known.
    ReceiveTest(Channel, Pattern),
    /// Does not wait; or waits so many units of time at most.
    Input(Channel, Pattern, Option<Box<Expression>>),
    /// `AWAIT(condition, n)`: waits until the condition holds or n units of time have passed; whether it holds.
    Await(Box<Expression>, Box<Expression>),
    /// The container has a component, or the element exists.
    Exists(Place),
    /// `FAULT(x)`: the error that has ended the component in the place, as a record of the type [`RecordId::FAULT`].
    Fault(Place),
    /// The component in the place offers these.
    Offers(Place, Vec<Facet>),
    /// The component in the place requires these.
    Requires(Place, Vec<Facet>),
    /// The component in the place is of that type.
    Is(Place, Type),
}

/// One-operand operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Not,
    NegateInteger,
    NegateReal,
}

/// Two-operand operators; both operands have the type in the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    And,
    Or,
    /// Checked.
    AddInteger,
    SubtractInteger,
    MultiplyInteger,
    /// Floors; checked.
    Div,
    /// Floors; checked.
    Mod,
    AddReal,
    SubtractReal,
    MultiplyReal,
    DivideReal,
    Concatenate,
    /// The elements of a SEQUENCE, then those of the other one.
    Join,
    /// The operands' type (the same on both sides) is theirs.
    Compare(Comparison),
}

/// Comparisons; TEXT by bytes up to its length, BOOLEAN FALSE before TRUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Predeclared functions, resolved by type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `TIME`: () INTEGER
    Time,
    /// (TEXT) INTEGER
    Length,
    /// (REAL) REAL; of a negative number NaN. Likewise the five below and [`Builtin::Arctan`].
    Sqrt,
    /// (REAL) REAL, radians
    Sin,
    /// (REAL) REAL
    Cos,
    /// (REAL) REAL
    Tan,
    /// (REAL) REAL
    Arcsin,
    /// (REAL) REAL
    Arccos,
    /// (REAL) REAL
    Arctan,
    /// (INTEGER, INTEGER) INTEGER
    MinInteger,
    /// (INTEGER, INTEGER) INTEGER
    MaxInteger,
    /// (REAL, REAL) REAL
    MinReal,
    /// (REAL, REAL) REAL
    MaxReal,
    /// (INTEGER, INTEGER) INTEGER, bit by bit. Likewise the two below.
    BitAnd,
    /// (INTEGER, INTEGER) INTEGER
    BitOr,
    /// (INTEGER, INTEGER) INTEGER
    BitXor,
    /// (INTEGER) INTEGER
    BitNot,
    /// (x, n: INTEGER) INTEGER: left by n, or right by -n; zeros come in on both sides.
    Shift,
    /// (x, n: INTEGER) INTEGER: left by n, or right by -n.
    Rotate,
    /// (INTEGER, INTEGER) INTEGER: the lowest 64 bits of the sum. Likewise the two below.
    AddWrap,
    /// (INTEGER, INTEGER) INTEGER
    SubtractWrap,
    /// (INTEGER, INTEGER) INTEGER
    MultiplyWrap,
    /// (lo, hi: INTEGER) INTEGER, both included; lo > hi is an error.
    Random,
    /// (INTEGER) CHARACTER; outside 0..255 is an error.
    IntegerToCharacter,
    /// (CHARACTER) INTEGER
    CharacterToInteger,
    /// (BOOLEAN) INTEGER: 0 or 1
    BooleanToInteger,
    /// (REAL) INTEGER: floors; outside the range (or NaN) is an error.
    RealToInteger,
    /// (INTEGER) REAL
    IntegerToReal,
    /// (CHARACTER) TEXT of length one
    CharacterToText,
    /// (INTEGER) TEXT, as WRITE writes it
    IntegerToText,
    /// (REAL) TEXT, as WRITE writes it
    RealToText,
    /// (BOOLEAN) TEXT, as WRITE writes it
    BooleanToText,
    /// (TEXT) TEXT: its length as WRITE writes it, `:`, then itself
    Counted,
    /// (TEXT, from, n: INTEGER) TEXT; places outside the text are an error
    Slice,
    /// (SEQUENCE) INTEGER: the number of elements
    Elements,
    /// (SEQUENCE, from, n: INTEGER) SEQUENCE; places outside it are an error
    Part,
    /// (SEQUENCE, keys: SEQUENCE of a type that has an order) SEQUENCE: sorted by keys that are as many; stable
    Sorted,
    /// (TEXT, part: TEXT, from: INTEGER) INTEGER; -1 if absent; `from` outside 0..=length is an error
    Find,
}
