//! Compares the conformance analysis with a search of all runs, for small random services of small random protocols.

use std::collections::BTreeSet;

use drystone_language::ast::Direction;
use drystone_language::conformance::*;
use drystone_language::program::*;
use drystone_language::source::Span;
use proptest::prelude::*;

const MESSAGES: usize = 6;
const PROCEDURE: ProcedureId = ProcedureId(0);

#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    Receive(usize),
    If(Condition, Vec<Step>, Vec<Step>),
    While(Condition, Vec<Step>),
    Repeat(Vec<Step>, Condition),
    Call,
    Return,
}

#[derive(Clone, Debug)]
enum Condition {
    /// Nothing is known of it.
    Opaque,
    Test(Pattern),
    Input(Pattern),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

fn states() -> impl Strategy<Value = Vec<State>> {
    let state = (any::<bool>(), any::<bool>(), prop::collection::btree_map(0..MESSAGES / 2, 0usize..4, 0..3));
    prop::collection::vec(state, 4).prop_map(|states| {
        let state =
            |(sends, may_end, transitions): (bool, bool, std::collections::BTreeMap<usize, usize>)| {
                let first = if sends { MESSAGES / 2 } else { 0 };
                let transitions: Vec<_> = transitions.into_iter().map(|(by, to)| (first + by, to)).collect();
                State { may_end: may_end || transitions.is_empty(), transitions }
            };
        states.into_iter().map(state).collect()
    })
}

fn conditions() -> impl Strategy<Value = Condition> {
    let pattern = || {
        prop_oneof![
            3 => (0..MESSAGES / 2).prop_map(Pattern::Message),
            1 => Just(Pattern::Any),
            1 => Just(Pattern::Finish)
        ]
    };
    let simple = prop_oneof![
        Just(Condition::Opaque),
        pattern().prop_map(Condition::Test),
        pattern().prop_map(Condition::Input)
    ];
    simple.prop_recursive(2, 4, 2, |inner| {
        let inner = inner.prop_map(Box::new);
        prop_oneof![
            inner.clone().prop_map(Condition::Not),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Condition::And(left, right)),
            (inner.clone(), inner).prop_map(|(left, right)| Condition::Or(left, right)),
        ]
    })
}

fn steps(loops: bool) -> impl Strategy<Value = Vec<Step>> {
    let simple = prop_oneof![
        4 => (MESSAGES / 2..MESSAGES).prop_map(Step::Send),
        4 => (0..MESSAGES / 2).prop_map(Step::Receive),
        2 => Just(Step::Call),
        1 => Just(Step::Return),
    ];
    let step = simple.prop_recursive(3, 16, 4, move |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..4);
        let branch = (conditions(), some(), some()).prop_map(|(test, yes, no)| Step::If(test, yes, no));
        let again = (conditions(), some()).prop_map(|(test, body)| Step::While(test, body));
        let until = (some(), conditions()).prop_map(|(body, test)| Step::Repeat(body, test));
        let weight = u32::from(loops);
        prop_oneof![2 => branch, weight => again, weight => until]
    });
    prop::collection::vec(step, 0..6)
}

/// Gives every statement a place of its own.
struct Build(u32);

impl Build {
    fn span(&mut self) -> Span {
        self.0 += 1;
        Span { file: 0, start: self.0, end: self.0 + 1 }
    }

    fn block(&mut self, steps: &[Step]) -> Block {
        Block { lock: None, statements: steps.iter().map(|step| self.statement(step)).collect() }
    }

    fn statement(&mut self, step: &Step) -> Statement {
        let span = self.span();
        let kind = match step {
            &Step::Send(message) => StatementKind::Send { channel: client(), message, arguments: Vec::new() },
            &Step::Receive(message) => {
                StatementKind::Receive { channel: client(), message, targets: Vec::new() }
            }
            Step::If(test, yes, no) => {
                StatementKind::If(vec![(condition(test), self.block(yes))], Some(self.block(no)))
            }
            Step::While(test, body) => StatementKind::While(condition(test), self.block(body)),
            Step::Repeat(body, test) => StatementKind::Repeat(self.block(body), condition(test)),
            Step::Call => StatementKind::Call(PROCEDURE, Vec::new()),
            Step::Return => StatementKind::Return(None),
        };
        Statement { kind, span }
    }
}

fn client() -> Channel {
    Channel { kind: ChannelKind::Service, interface: InterfaceId(0) }
}

fn condition(condition: &Condition) -> Expression {
    let inner = |it: &Condition| Box::new(self::condition(it));
    let kind = match condition {
        Condition::Opaque => ExpressionKind::Builtin(Builtin::Time, Vec::new()),
        &Condition::Test(pattern) => ExpressionKind::ReceiveTest(client(), pattern),
        &Condition::Input(pattern) => ExpressionKind::Input(client(), pattern, None),
        Condition::Not(it) => ExpressionKind::Unary(Unary::Not, inner(it)),
        Condition::And(left, right) => ExpressionKind::Binary(Binary::And, inner(left), inner(right)),
        Condition::Or(left, right) => ExpressionKind::Binary(Binary::Or, inner(left), inner(right)),
    };
    Expression { kind, ty: Type::Boolean, span: Span::default() }
}

fn program(states: Vec<State>, service: &[Step], procedure: &[Step]) -> Program {
    let message = |index: usize| Message {
        name: format!("m{index}"),
        direction: if index < MESSAGES / 2 { Direction::In } else { Direction::Out },
        parameters: Vec::new(),
        values: Vec::new(),
    };
    let mut build = Build(0);
    let span = build.span();
    let implementation = Implementation {
        offered: 0,
        span,
        handler: false,
        variables: Vec::new(),
        body: build.block(service),
        finally: None,
    };
    let component = Component {
        name: "C".into(),
        span,
        outer: None,
        isolated: false,
        virtual_time: false,
        native: None,
        offers: vec![Facet { interface: InterfaceId(0), cardinality: None }],
        requires: Vec::new(),
        variables: Vec::new(),
        implementations: vec![implementation],
        begin: None,
        activity: None,
        finally: None,
    };
    let procedure = Procedure {
        name: "P".into(),
        native: None,
        span,
        owner: Owner::Implementation(ComponentId(0), 0),
        component: Some(ComponentId(0)),
        parameters: Vec::new(),
        result: None,
        variables: Vec::new(),
        body: build.block(procedure),
    };
    let messages = (0..MESSAGES).map(message).collect();
    Program {
        interfaces: vec![Interface { name: "I".into(), span, messages, states, native: None, capacity: 1 }],
        records: Vec::new(),
        components: vec![component],
        procedures: vec![procedure],
        variables: Vec::new(),
        composites: Vec::new(),
        entry: None,
        system: None,
        imported: Default::default(),
        warnings: Vec::new(),
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    /// In this state of the protocol.
    Open(usize),
    /// The client has closed.
    Closed,
    /// The client is lost: nothing is right or wrong any more.
    Lost,
}

/// All runs, one after another.
struct Search<'p> {
    program: &'p Program,
    /// Where the calls were that have not returned.
    calls: Vec<Position>,
    reached: BTreeSet<Span>,
    passed: BTreeSet<Span>,
    /// Some run stops without a fault before its end, may have no end, or is too deep to be followed.
    survives: bool,
}

#[derive(Default)]
struct Ends {
    next: BTreeSet<Position>,
    returned: BTreeSet<Position>,
}

impl Search<'_> {
    fn states(&self) -> &[State] {
        &self.program.interfaces[0].states
    }

    fn may_end(&self, position: Position) -> bool {
        match position {
            Position::Open(state) => self.states()[state].may_end,
            Position::Closed => true,
            Position::Lost => false,
        }
    }

    fn after(&self, position: Position, message: usize) -> Option<Position> {
        let Position::Open(state) = position else { return None };
        let transitions = &self.states()[state].transitions;
        transitions.iter().find(|it| it.0 == message).map(|it| Position::Open(it.1))
    }

    fn block(&mut self, block: &Block, position: Position) -> Ends {
        let mut ends = Ends { next: [position].into(), ..Ends::default() };
        for statement in &block.statements {
            for position in std::mem::take(&mut ends.next) {
                let one = self.statement(statement, position);
                ends.next.extend(one.next);
                ends.returned.extend(one.returned);
            }
        }
        ends
    }

    fn statement(&mut self, statement: &Statement, position: Position) -> Ends {
        let mut ends = Ends::default();
        let ends_there = match statement.kind {
            // Without the lock.
            StatementKind::Send { .. } | StatementKind::Receive { .. } => true,
            StatementKind::Return(_) => self.calls.is_empty(),
            _ => false,
        };
        if position == Position::Lost && ends_there {
            return ends;
        }
        self.reached.insert(statement.span);
        match &statement.kind {
            StatementKind::Send { message, .. } => {
                ends.next.extend(if position == Position::Closed {
                    Some(position)
                } else {
                    self.after(position, *message)
                });
            }
            StatementKind::Receive { message, .. } => ends.next.extend(self.after(position, *message)),
            StatementKind::Return(_) => {
                if !self.calls.is_empty() || self.may_end(position) {
                    self.passed.insert(statement.span);
                    ends.returned.insert(position);
                }
            }
            // Deeper recursion is not followed.
            StatementKind::Call(..) if self.calls.iter().filter(|&&it| it == position).count() == 2 => {
                self.survives = true;
            }
            StatementKind::Call(..) => {
                let survives_otherwise = std::mem::take(&mut self.survives);
                self.calls.push(position);
                let one = self.block(&self.program.procedures[0].body, position);
                self.calls.pop();
                ends.next = &one.next | &one.returned;
                if self.survives {
                    self.passed.insert(statement.span);
                }
                self.survives |= survives_otherwise;
            }
            StatementKind::If(branches, otherwise) => {
                for (holds, position) in self.condition(&branches[0].0, position) {
                    let block = if holds { &branches[0].1 } else { otherwise.as_ref().unwrap() };
                    let one = self.block(block, position);
                    ends.next.extend(one.next);
                    ends.returned.extend(one.returned);
                }
            }
            StatementKind::While(..) | StatementKind::Repeat(..) => {
                let mut heads = BTreeSet::from([position]);
                let mut pending = vec![position];
                let mut goes_round = false;
                while let Some(head) = pending.pop() {
                    let (again, left) = self.iteration(statement, head, &mut ends.returned);
                    goes_round |= !again.is_empty();
                    pending.extend(again.into_iter().filter(|&position| heads.insert(position)));
                    ends.next.extend(left);
                }
                // It may go round forever.
                self.survives |= goes_round;
            }
            _ => unreachable!(),
        }
        if !ends.next.is_empty() {
            self.passed.insert(statement.span);
        }
        ends
    }

    /// One round of a loop: where it can go on from, and where it can be left.
    fn iteration(
        &mut self,
        statement: &Statement,
        head: Position,
        returned: &mut BTreeSet<Position>,
    ) -> (BTreeSet<Position>, BTreeSet<Position>) {
        let (mut again, mut left) = (BTreeSet::new(), BTreeSet::new());
        match &statement.kind {
            StatementKind::While(test, body) => {
                for (holds, position) in self.condition(test, head) {
                    if holds {
                        let one = self.block(body, position);
                        returned.extend(one.returned);
                        again.extend(one.next);
                    } else {
                        left.insert(position);
                    }
                }
            }
            StatementKind::Repeat(body, test) => {
                let one = self.block(body, head);
                returned.extend(one.returned);
                for (holds, position) in
                    one.next.into_iter().flat_map(|position| self.condition(test, position))
                {
                    if holds {
                        left.insert(position)
                    } else {
                        again.insert(position)
                    };
                }
            }
            _ => unreachable!(),
        }
        (again, left)
    }

    /// Each possible answer, and where the run is then.
    fn condition(&mut self, condition: &Expression, position: Position) -> BTreeSet<(bool, Position)> {
        match &condition.kind {
            ExpressionKind::Builtin(..) => [(true, position), (false, position)].into(),
            ExpressionKind::Unary(_, inner) => {
                self.condition(inner, position).into_iter().map(|(holds, then)| (!holds, then)).collect()
            }
            ExpressionKind::Binary(operator, left, right) => {
                let decisive = *operator == Binary::Or;
                let mut answers = BTreeSet::new();
                for (holds, position) in self.condition(left, position) {
                    if holds == decisive {
                        answers.insert((holds, position));
                    } else {
                        answers.extend(self.condition(right, position));
                    }
                }
                answers
            }
            ExpressionKind::ReceiveTest(_, pattern) => {
                let answers = self.answers(*pattern, position);
                self.survives |= answers.is_empty();
                answers
            }
            ExpressionKind::Input(_, pattern, _) => {
                let mut answers = self.answers(*pattern, position);
                answers.retain(|answer| answer.0);
                answers.insert((false, position));
                answers
            }
            _ => unreachable!(),
        }
    }

    /// What a test finds when the client has sent one of the messages it may send, or gone if it may.
    fn answers(&self, pattern: Pattern, position: Position) -> BTreeSet<(bool, Position)> {
        let mut answers = BTreeSet::new();
        if self.may_end(position) {
            answers.insert((pattern == Pattern::Finish, Position::Closed));
        }
        if position != Position::Closed {
            answers.insert((pattern == Pattern::Finish, Position::Lost));
        }
        let Position::Open(state) = position else { return answers };
        for message in self.states()[state].transitions.iter().map(|it| it.0) {
            // At the service's own turn FALSE is possible.
            let is_asked = pattern == Pattern::Any || pattern == Pattern::Message(message);
            answers.insert((is_asked && message < MESSAGES / 2, position));
        }
        answers
    }
}

/// The places that the analysis reports.
fn analyse(states: Vec<State>, service: &[Step], procedure: &[Step]) -> (BTreeSet<Span>, Program) {
    let program = program(states, service, procedure);
    let reported = check(&program).errors.into_iter().map(|diagnostic| diagnostic.span).collect();
    (reported, program)
}

fn search(program: &Program) -> (Search<'_>, bool) {
    let mut search = Search {
        program,
        calls: Vec::new(),
        reached: BTreeSet::new(),
        passed: BTreeSet::new(),
        survives: false,
    };
    let implementation = &program.components[0].implementations[0];
    let mut ends = search.block(&implementation.body, Position::Open(0));
    ends.next.remove(&Position::Lost);
    let goes_well = ends.next.iter().any(|&position| search.may_end(position)) || !ends.returned.is_empty();
    let end = end_of(&implementation.body, implementation);
    if !ends.next.is_empty() {
        search.reached.insert(end);
    }
    if ends.next.iter().any(|&position| search.may_end(position)) {
        search.passed.insert(end);
    }
    (search, goes_well)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_can_go_well_is_not_refused(
        states in states(), service in steps(true), procedure in steps(true),
    ) {
        let (reported, program) = analyse(states, &service, &procedure);
        let (search, _) = search(&program);
        prop_assert!(reported.is_disjoint(&search.passed), "{:?}", &reported & &search.passed);
    }

    #[test]
    fn what_never_goes_well_is_refused(
        states in states(), service in steps(false), procedure in steps(false),
    ) {
        let (reported, program) = analyse(states, &service, &procedure);
        let (search, goes_well) = search(&program);
        prop_assert!(reported.is_disjoint(&search.passed));
        if search.survives {
            // Recursion was perhaps not followed to its end.
            return Ok(());
        }
        prop_assert!(goes_well || !reported.is_empty());
        prop_assert!(reported.is_subset(&search.reached));
        let implementation = &program.components[0].implementations[0];
        let uses = implementation.body.statements.iter().filter(|statement| {
            matches!(statement.kind, StatementKind::Send { .. } | StatementKind::Receive { .. })
        });
        for place in uses.map(|statement| statement.span).chain([end_of(&implementation.body, implementation)]) {
            let fails = search.reached.contains(&place) && !search.passed.contains(&place);
            prop_assert_eq!(reported.contains(&place), fails, "{:?}", place);
        }
    }
}
