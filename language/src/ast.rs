//! The syntax tree, as written: names unresolved, nothing checked. It follows the grammar of the language reference,
//! section 2. The parser always gives a tree; text that could not be read is missing from it, and the tree says where.

use crate::source::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The identifier, or `Import.Identifier` for a declaration of an imported file.
    pub text: String,
    /// Its place.
    pub span: Span,
}

impl Name {
    /// The import that qualifies it, and the name in the imported file.
    pub fn qualified(&self) -> Option<(&str, &str)> {
        self.text.split_once('.')
    }

    /// The identifier alone.
    pub fn last(&self) -> &str {
        self.qualified().map_or(&self.text, |(_, last)| last)
    }
}

/// One source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The files that it imports, by name.
    pub imports: Vec<Name>,
    /// Components, interfaces, procedures and constants at the top level, in order.
    pub items: Vec<Declaration>,
    /// Text at the top level could not be read, and the names that it declares are not known.
    pub lost: bool,
}

/// Anything that can be declared.
#[derive(Clone, Debug, PartialEq)]
pub enum Declaration {
    /// `COMPONENT`
    Component(Component),
    /// `INTERFACE`
    Interface(Interface),
    /// One `Name = Expression` of a `CONSTANT` section.
    Constant(Constant),
    /// One `Variable {, Variable}: Type` of a `VARIABLE` section.
    Variables(Variables),
    /// `PROCEDURE`
    Procedure(Procedure),
    /// `RECORD`
    Record(Record),
    /// `IMPLEMENTATION`; the parser accepts it only directly inside a component.
    Implementation(Implementation),
    /// Text that could not be read, with every name that it may have declared.
    Lost(Vec<Name>),
}

/// `NATIVE "path"` among the attributes of a component or an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// The Rust type or trait.
    pub path: String,
    /// From `NATIVE` to the end of the text.
    pub span: Span,
}

/// `COMPONENT [Attributes] Name OFFERS .. REQUIRES ..; declarations BEGIN .. ACTIVITY .. FINALLY .. END Name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Attributes between `COMPONENT` and the name.
    pub attributes: Vec<Name>,
    /// The Rust type that it is.
    pub native: Option<Native>,
    /// Its name.
    pub name: Name,
    /// Offered interfaces.
    pub offers: Vec<Facet>,
    /// Required interfaces.
    pub requires: Vec<Facet>,
    /// Constants, variables, procedures, implementations, inner components and interfaces, in order.
    pub declarations: Vec<Declaration>,
    /// `BEGIN` block.
    pub begin: Option<Block>,
    /// `ACTIVITY` block.
    pub activity: Option<Block>,
    /// `FINALLY` block.
    pub finally: Option<Block>,
    /// From `COMPONENT` to the last `;`.
    pub span: Span,
}

/// `Name [ "[" from [".." to] "]" ]`
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// The interface's name.
    pub name: Name,
    /// The cardinality, where written.
    pub cardinality: Option<Cardinality>,
    /// The whole.
    pub span: Span,
}

/// `[n]`, `[m..n]` or `[m..*]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cardinality {
    /// m (equal to n for `[n]`).
    pub from: i64,
    /// n; `None` for `*`.
    pub to: Option<i64>,
}

/// `INTERFACE [Attributes] Name; [Protocol] END Name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Attributes between `INTERFACE` and the name.
    pub attributes: Vec<Name>,
    /// `CAPACITY n` among them, and where it stands.
    pub capacity: Option<(i64, Span)>,
    /// The Rust trait that it is.
    pub native: Option<Native>,
    /// Its name.
    pub name: Name,
    /// `None`: no message is ever exchanged.
    pub protocol: Option<Protocol>,
    /// The whole.
    pub span: Span,
}

/// A protocol expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// `a | b | ..` (at least two).
    Choice(Vec<Protocol>),
    /// `a b ..`
    Sequence(Vec<Protocol>),
    /// `[ a ]`
    Optional(Box<Protocol>, Span),
    /// `{ a }`
    Repeated(Box<Protocol>, Span),
    /// `( a )`: kept for the formatter.
    Group(Box<Protocol>, Span),
    /// `IN Name(..)` or `OUT Name(..)`
    Message(Message),
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Client to server.
    In,
    /// Server to client.
    Out,
}

/// One message of a protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// `IN` or `OUT`.
    pub direction: Direction,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Section>,
    /// The whole.
    pub span: Span,
}

/// `Names : Type`, of message parameters, fields of records and collection indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: Type,
}

/// `Name` or `ANY [ "(" Offered "|" Required ")" ]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A predeclared type or a component template.
    Named(Name),
    /// `ANY`, with the offered and required facets where a parenthesis was written.
    Any {
        /// `(offers, requires)`.
        facets: Option<(Vec<Facet>, Vec<Facet>)>,
        /// The whole.
        span: Span,
    },
    /// `SEQUENCE OF Type`
    Sequence(Box<Type>, Span),
}

/// `Name = Expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Expression,
}

/// `a, b[i: INTEGER]: Type [Attributes]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    /// Name and, for a collection, its index sections.
    pub variables: Vec<(Name, Option<Vec<Section>>)>,
    /// Their type (of the elements).
    pub ty: Type,
    /// e.g. `{ARRAY}`.
    pub attributes: Vec<Name>,
}

/// `RECORD Name; Names: Type {; Names: Type} END Name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Section>,
    /// The whole.
    pub span: Span,
}

/// `PROCEDURE Name(formals): Type; declarations BEGIN .. END Name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// What stands in braces before the name.
    pub attributes: Vec<Name>,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub formals: Vec<Formal>,
    /// Its result.
    pub result: Option<Type>,
    /// Local declarations.
    pub declarations: Vec<Declaration>,
    /// Its statements.
    pub body: Option<Block>,
    /// The whole.
    pub span: Span,
}

impl Procedure {
    /// Whether a crate carries it: there is a heading only.
    pub fn is_native(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.text == "NATIVE")
    }
}

/// `[VARIABLE] Names: Type`.
#[derive(Clone, Debug, PartialEq)]
pub struct Formal {
    /// Passed by reference.
    pub variable: bool,
    /// The names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: Type,
}

/// `IMPLEMENTATION [Attributes] Name; declarations BEGIN .. END Name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Implementation {
    /// e.g. `{HANDLER}`.
    pub attributes: Vec<Name>,
    /// The offered interface.
    pub name: Name,
    /// Local declarations.
    pub declarations: Vec<Declaration>,
    /// `BEGIN` block: its statements.
    pub body: Option<Block>,
    /// `FINALLY` block.
    pub finally: Option<Block>,
    /// The whole.
    pub span: Span,
}

/// `[Attributes] statements`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// `{EXCLUSIVE}`, `{SHARED}`, `{COMPOSITE}`.
    pub attributes: Vec<Name>,
    /// In order; empty statements are left out.
    pub statements: Vec<Statement>,
    /// From the first token (attributes too) to the last.
    pub span: Span,
    /// Some statement in it, however deep, could not be read.
    pub lost: bool,
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// The whole.
    pub span: Span,
}

/// The statements of the grammar.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // a tree is read once and dropped; boxes would only be in the way
pub enum StatementKind {
    /// `target := value`
    Assign(Designator, Expression),
    /// `[channel] ! message(arguments)`
    Send {
        /// Before `!`.
        channel: Option<Designator>,
        /// The message.
        message: Name,
        /// What is sent.
        arguments: Vec<Expression>,
    },
    /// `[channel] ? message(targets)`
    Receive {
        /// Before `?`.
        channel: Option<Designator>,
        /// The message.
        message: Name,
        /// Where its parameters go.
        targets: Vec<Designator>,
    },
    /// `Name(arguments)`; also `WRITE`, `INC`, `PASSIVATE`, ... which are recognised later by name.
    Call(Name, Vec<Expression>),
    /// `IF .. THEN .. ELSIF .. ELSE .. END`
    If(Vec<(Expression, Block)>, Option<Block>),
    /// `CASE value OF 1, 3..5: .. | 7: .. ELSE .. END`
    Case(Expression, Vec<(Vec<Label>, Block)>, Option<Block>),
    /// `CASE channel? OF Get(key): .. | FINISH: .. ELSE .. END`
    Arrivals {
        /// Before `?`.
        channel: Option<Designator>,
        /// What may arrive, and what is done then.
        branches: Vec<(Arrival, Block)>,
        /// After `ELSE`.
        otherwise: Option<Block>,
    },
    /// `SELECT channel?Get(key): .. | AWAIT(condition): .. | AFTER limit: .. END`
    Select(Vec<(Alternative, Block)>),
    /// `WHILE .. DO .. END`
    While(Expression, Block),
    /// `REPEAT .. UNTIL ..`
    Repeat(Block, Expression),
    /// `FOR .. := .. TO .. BY .. DO .. END`
    For {
        /// The loop variable.
        variable: Designator,
        /// First value.
        from: Expression,
        /// Bound, included.
        to: Expression,
        /// Step; 1 where absent.
        by: Option<Expression>,
        /// What is repeated.
        body: Block,
    },
    /// `FOREACH i, j OF a DO .. END`
    Foreach {
        /// One for each index.
        variables: Vec<Designator>,
        /// The collection.
        collection: Designator,
        /// What is repeated.
        body: Block,
    },
    /// `BEGIN .. END`
    Block(Block),
    /// `RETURN [value]`
    Return(Option<Expression>),
    /// `NEW(target [, Type | expressions]) [AT domain [BY calls]]`. A single bare name as second argument is given as
    /// an expression; the checker decides whether it names a template.
    New {
        /// The container or array.
        target: Designator,
        /// `ANY(..)` written as second argument.
        ty: Option<Type>,
        /// Sizes, or the template's name as a designator.
        arguments: Vec<Expression>,
        /// After `AT`.
        at: Option<Expression>,
        /// After `BY`, the outermost first.
        by: Vec<Call>,
    },
    /// `DELETE(target)`
    Delete(Designator),
    /// `SORT(element OF sequence, key)`
    Sort {
        /// Stands for each element in the key.
        element: Name,
        /// What is sorted.
        sequence: Designator,
        /// What the elements are sorted by.
        key: Expression,
    },
    /// `MOVE(from, to)`
    Move(Designator, Designator),
    /// `CONNECT(required, offered) [BY calls]`
    Connect {
        /// `Required(x)`, or a bare interface name.
        required: Designator,
        /// A designator, or an expression (a name) for other domains.
        to: Expression,
        /// After `BY`, the outermost first.
        by: Vec<Call>,
    },
    /// `DISCONNECT(required)`
    Disconnect(Designator),
    /// `EXPORT(offered, name) [BY calls]`
    Export {
        /// What is exported.
        offered: Designator,
        /// The name.
        name: Expression,
        /// After `BY`, the outermost first.
        by: Vec<Call>,
    },
    /// `AWAIT(condition)`
    Await(Expression),
}

/// `from [".." to]` of a branch of CASE.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The value, or the first one.
    pub from: Expression,
    /// The last one of a range.
    pub to: Option<Expression>,
}

/// `Name ["(" Names ")"]` or `FINISH` of a branch of CASE over what arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The message, or FINISH.
    pub pattern: Pattern,
    /// The variables that it declares, one for each parameter.
    pub variables: Vec<Name>,
    /// The whole.
    pub span: Span,
}

/// What a branch of SELECT waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Alternative {
    /// `[channel] ? arrival`
    Arrival(Option<Designator>, Arrival),
    /// `AWAIT(condition)`
    Await(Expression),
    /// `AFTER limit`
    After(Expression),
}

/// `Name [ "[" indices "]" ] { "." field | "[" index "]" } [ "(" inner ")" ]`; the inner part may name a type, which
/// the checker decides (unless it is `ANY`, which can only be a type). The name may be `Variable.field`, read as a
/// qualified one.
#[derive(Clone, Debug, PartialEq)]
pub struct Designator {
    /// The name.
    pub name: Name,
    /// Between brackets.
    pub indices: Option<Vec<Expression>>,
    /// Parts of a value, from outside inwards.
    pub steps: Vec<Step>,
    /// Between parentheses.
    pub inner: Option<Box<Inner>>,
    /// The whole.
    pub span: Span,
}

impl Designator {
    /// The name, if there is nothing else.
    pub fn bare(&self) -> Option<&Name> {
        let is_bare = self.indices.is_none() && self.steps.is_empty() && self.inner.is_none();
        is_bare.then_some(&self.name)
    }
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.field` of a record.
    Field(Name),
    /// `[index]` of a sequence, and the place of the whole brackets.
    Index(Expression, Span),
}

/// What stands in the parentheses of a designator.
#[derive(Clone, Debug, PartialEq)]
pub enum Inner {
    /// A component (or a template's name).
    Designator(Designator),
    /// `ANY(..)`.
    Type(Type),
}

/// A factory and its options, after `BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The factory.
    pub name: Name,
    /// `[name:] value`.
    pub arguments: Vec<(Option<Name>, Expression)>,
    /// The whole.
    pub span: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// The whole.
    pub span: Span,
}

/// Two-operand operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Div,
    Mod,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// One-operand operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOperator {
    Plus,
    Minus,
    Not,
}

/// What a receive test asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// A message.
    Message(Name),
    /// `ANY`
    Any(Span),
    /// `FINISH`
    Finish(Span),
}

/// The expressions of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `42`, `0FFH`
    Integer(i64),
    /// `0DX`
    Character(u8),
    /// `1.5E-3`
    Real(f64),
    /// A number that is none, or too large; reported already.
    BadNumber,
    /// A string with its escapes resolved.
    String(Vec<u8>),
    /// A variable, constant, element, or (bare name) anything else that a name may mean.
    Designator(Designator),
    /// `Name(arguments)` not followed by `!`, `?` or `:=`.
    Call(Call),
    /// `[a, b, c]`: a sequence.
    List(Vec<Expression>),
    /// `( e )`: kept for the formatter.
    Group(Box<Expression>),
    /// `a op b`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `op a`
    Unary(UnaryOperator, Box<Expression>),
    /// `{SHARED} e`
    Attributed(Vec<Name>, Box<Expression>),
    /// `[channel] ? pattern`
    ReceiveTest(Option<Designator>, Pattern),
    /// `INPUT([channel,] pattern [, limit])`. Of `INPUT(a, b)` only the names tell whether b is the limit.
    Input(Option<Designator>, Pattern, Option<Box<Expression>>),
    /// `EXISTS(designator)`
    Exists(Designator),
    /// `designator OFFERS facets`
    Offers(Designator, Vec<Facet>),
    /// `designator REQUIRES facets`
    Requires(Designator, Vec<Facet>),
    /// `designator IS Type`
    Is(Designator, Type),
}
