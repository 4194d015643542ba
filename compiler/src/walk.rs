//! A visitor of all statements, expressions and places of a checked block.

use drystone_language::program::*;

/// Called for each node before its parts.
pub trait Visitor {
    /// A statement.
    fn statement(&mut self, _statement: &Statement) {}
    /// An expression.
    fn expression(&mut self, _expression: &Expression) {}
    /// A place, however it is used.
    fn place(&mut self, _place: &Place) {}
    /// A variable that is used as a whole collection.
    fn collection(&mut self, _variable: VariableId) {}
    /// A block, before its statements.
    fn block(&mut self, _block: &Block) {}
    /// A communication.
    fn channel(&mut self, _channel: &Channel) {}
    /// A `VARIABLE` argument of a procedure.
    fn reference(&mut self, _place: &Place) {}
}

/// Visits a block and all that it contains.
pub fn block(visitor: &mut impl Visitor, b: &Block) {
    visitor.block(b);
    for s in &b.statements {
        statement(visitor, s);
    }
}

fn statement(v: &mut impl Visitor, s: &Statement) {
    use StatementKind::*;
    v.statement(s);
    match &s.kind {
        Assign(target, value) => {
            place(v, target);
            expression(v, value);
        }
        Send { channel: c, arguments, .. } => {
            channel(v, c);
            for argument in arguments {
                match argument {
                    Argument::Value(value) => expression(v, value),
                    Argument::Place(p) => place(v, p),
                }
            }
        }
        Receive { channel: c, targets, .. } => {
            channel(v, c);
            targets.iter().for_each(|target| place(v, target));
        }
        Call(_, args) => call_arguments(v, args),
        If(arms, rest) => {
            for (condition, b) in arms {
                expression(v, condition);
                block(v, b);
            }
            if let Some(b) = rest {
                block(v, b);
            }
        }
        Case(value, branches, rest) => {
            expression(v, value);
            branches.iter().map(|(_, b)| b).chain(rest).for_each(|b| block(v, b));
        }
        Arrivals { channel: c, branches, otherwise } => {
            channel(v, c);
            for branch in branches {
                branch.targets.iter().for_each(|target| place(v, target));
                block(v, &branch.block);
            }
            otherwise.iter().for_each(|b| block(v, b));
        }
        Select(alternatives) => {
            for alternative in alternatives {
                match alternative {
                    Alternative::Arrival(c, arrival) => {
                        channel(v, c);
                        arrival.targets.iter().for_each(|target| place(v, target));
                    }
                    Alternative::Await(e, _) | Alternative::After(e, _) => expression(v, e),
                }
                block(v, alternative.block());
            }
        }
        While(condition, b) | Repeat(b, condition) => {
            expression(v, condition);
            block(v, b);
        }
        For { variable, from, to, by, body } => {
            place(v, variable);
            [from, to, by].into_iter().for_each(|e| expression(v, e));
            block(v, body);
        }
        Foreach { variables, element, collection, body } => {
            variables.iter().chain(element).for_each(|p| place(v, p));
            v.collection(*collection);
            block(v, body);
        }
        Block(b) | Composite(_, b) => block(v, b),
        Exit => {}
        Return(value) => value.iter().for_each(|e| expression(v, e)),
        NewComponent(p, _) | NewElement(p) | DeleteComponent(p) | DeleteElement(p) => place(v, p),
        NewText(p, e) | NewSequence(p, e) | Remove(p, e) | Increase(p, e) | Decrease(p, e) => {
            place(v, p);
            expression(v, e);
        }
        Insert(p, index, e) => {
            place(v, p);
            index.iter().chain([e]).for_each(|e| expression(v, e));
        }
        NewArray(variable, sizes) => {
            v.collection(*variable);
            sizes.iter().for_each(|e| expression(v, e));
        }
        DeleteCollection(variable) => v.collection(*variable),
        Move(from, to) => {
            place(v, from);
            place(v, to);
        }
        NewComponentAt { target, domain, by, .. } => {
            place(v, target);
            [domain, by].into_iter().for_each(|e| expression(v, e));
        }
        Connect(from, to, by) => {
            connect_end(v, from);
            connect_end(v, to);
            by.iter().for_each(|e| expression(v, e));
        }
        Bind { required: end, name, by, .. } | Export { offered: end, name, by, .. } => {
            connect_end(v, end);
            [name, by].into_iter().for_each(|e| expression(v, e));
        }
        Disconnect(end) => connect_end(v, end),
        Await(e) | Halt(e) | Write(e) | WriteHex(e) | Passivate(e) => expression(v, e),
        Assert(e, number) => {
            expression(v, e);
            number.iter().for_each(|e| expression(v, e));
        }
        WriteLine => {}
    }
}

fn call_arguments(v: &mut impl Visitor, arguments: &[Argument]) {
    for argument in arguments {
        match argument {
            Argument::Value(value) => expression(v, value),
            Argument::Place(p) => {
                v.reference(p);
                place(v, p);
            }
        }
    }
}

fn connect_end(v: &mut impl Visitor, end: &ConnectEnd) {
    match end {
        ConnectEnd::Of { component, index, .. } => {
            place(v, component);
            index.iter().for_each(|e| expression(v, e));
        }
        ConnectEnd::OwnRequired(_, index) => index.iter().for_each(|e| expression(v, e)),
        ConnectEnd::OwnOffered(_) => {}
    }
}

fn channel(v: &mut impl Visitor, c: &Channel) {
    v.channel(c);
    match &c.kind {
        ChannelKind::Service => {}
        ChannelKind::Required(_, index) => index.iter().for_each(|e| expression(v, e)),
        ChannelKind::Held(p) => place(v, p),
    }
}

fn place(v: &mut impl Visitor, p: &Place) {
    v.place(p);
    match &p.kind {
        PlaceKind::Variable(_) => {}
        PlaceKind::Element(variable, indices) => {
            v.collection(*variable);
            indices.iter().for_each(|e| expression(v, e));
        }
        PlaceKind::Character(_, index) => expression(v, index),
        PlaceKind::Item(inner, index) => {
            place(v, inner);
            expression(v, index);
        }
        PlaceKind::Field(inner, _) | PlaceKind::Guarded(inner) => place(v, inner),
    }
}

/// Visits an expression and all that it contains.
pub fn expression(v: &mut impl Visitor, e: &Expression) {
    use ExpressionKind::*;
    v.expression(e);
    match &e.kind {
        Boolean(_) | Character(_) | Integer(_) | Real(_) | Text(_) | Count(_) => {}
        Read(p) | Exists(p) | Fault(p) | Offers(p, _) | Requires(p, _) | Is(p, _) => place(v, p),
        Call(_, args) => call_arguments(v, args),
        Unary(_, a) | Locked(_, a) => expression(v, a),
        Binary(_, a, b) => {
            expression(v, a);
            expression(v, b);
        }
        Record(values) => values.iter().for_each(|(_, e)| expression(v, e)),
        Builtin(_, args) | List(args) => args.iter().for_each(|e| expression(v, e)),
        Number(t, p) => {
            expression(v, t);
            place(v, p);
        }
        ReceiveTest(c, _) => channel(v, c),
        Input(c, _, limit) => {
            channel(v, c);
            limit.iter().for_each(|e| expression(v, e));
        }
        Await(condition, limit) => {
            expression(v, condition);
            expression(v, limit);
        }
    }
}
