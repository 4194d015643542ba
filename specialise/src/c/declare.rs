//! Where variables are declared: at their first assignment if it comes before every other mention, else at the
//! beginning of the innermost block that contains all mentions.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::{Form, Stmt, inner, inner_mut, own_mentions};

/// What is known of the variables of a function.
pub(super) struct Scopes<'a> {
    /// The C types of the variables that are to be declared.
    pub types: &'a BTreeMap<usize, String>,
    /// The variables that hold something when a block begins: they outlive a round of its loop.
    pub live_in: &'a [BTreeSet<usize>],
}

impl Scopes<'_> {
    /// Declares variables in a list of statements, which is all that mentions them.
    pub fn declare(&self, list: &mut Vec<Stmt>) {
        let mut found = Found::default();
        found.read(list, None);
        let homes = self.homes(&found);
        self.place(list, &mut homes.into_iter());
    }

    /// Declares all at the top, for functions with jumps against the order of the text.
    pub fn declare_first(&self, list: &mut Vec<Stmt>) {
        let mut found = Found::default();
        found.read(list, None);
        let declarations =
            found.mentions.keys().filter_map(|&v| Some(Stmt::Declare(v, self.types.get(&v)?.clone())));
        list.splice(0..0, declarations.collect::<Vec<_>>());
    }

    /// What is declared in each block, with the statements of the block that mention it.
    fn homes(&self, found: &Found) -> Vec<BTreeMap<usize, BTreeSet<usize>>> {
        let mut homes = vec![BTreeMap::new(); found.blocks.len()];
        for (&variable, mentions) in found.mentions.iter().filter(|(v, _)| self.types.contains_key(v)) {
            let common = mentions.iter().map(|mention| mention.block).reduce(|a, b| found.common(a, b));
            let home = self.allowed(found, common.unwrap_or_default(), variable);
            let statements = mentions.iter().map(|&mention| found.within(home, mention)).collect();
            homes[home].insert(variable, statements);
        }
        homes
    }

    /// The smallest block around another that a variable may live in, from the outermost on.
    fn allowed(&self, found: &Found, block: usize, variable: usize) -> usize {
        let mut allowed = block;
        let mut at = block;
        while let Some((mention, entry)) = found.blocks[at].around {
            let may_enter = match entry {
                Entry::Free => true,
                Entry::Round { header } => !self.live_in[header].contains(&variable),
                Entry::Arm => false,
            };
            at = mention.block;
            if !may_enter {
                allowed = at;
            }
        }
        allowed
    }

    /// Declares in a list of statements and in what is inside of it, in the order in which [`Found::read`] numbered the
    /// blocks.
    fn place(
        &self,
        list: &mut Vec<Stmt>,
        homes: &mut impl Iterator<Item = BTreeMap<usize, BTreeSet<usize>>>,
    ) {
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (variable, statements) in homes.next().unwrap_or_default() {
            let first = statements.first().copied().unwrap_or_default();
            if !self.declare_at(&mut list[first], variable, statements.len()) {
                before.entry(first).or_default().push(variable);
            }
        }
        let mut whole = Vec::with_capacity(list.len() + before.len());
        for (at, mut statement) in std::mem::take(list).into_iter().enumerate() {
            for inside in inner_mut(&mut statement) {
                self.place(inside, homes);
            }
            let declared = before.remove(&at).unwrap_or_default();
            whole.extend(declared.into_iter().map(|v| Stmt::Declare(v, self.types[&v].clone())));
            whole.push(statement);
        }
        *list = whole;
    }

    /// Makes an assignment a declaration, if the statement begins with one.
    fn declare_at(&self, statement: &mut Stmt, variable: usize, places: usize) -> bool {
        let ty = self.types[&variable].clone();
        match statement {
            Stmt::Assign { variable: assigned, value, declares, .. }
                if *assigned == variable && !value.reads.contains(&variable) =>
            {
                *declares = Some(ty);
                true
            }
            Stmt::Loop { form: Form::For { start: Some(start), .. }, .. } if places == 1 => {
                self.declare_at(start, variable, places)
            }
            _ => false,
        }
    }
}

/// Where variables are mentioned, each mention looked at once.
#[derive(Default)]
struct Found {
    blocks: Vec<Block>,
    mentions: BTreeMap<usize, Vec<Mention>>,
}

/// A list of statements.
struct Block {
    /// The statement that it is inside of, and how control gets in. The outermost has none.
    around: Option<(Mention, Entry)>,
    depth: usize,
}

/// A statement: the block, and the place in it.
#[derive(Clone, Copy)]
struct Mention {
    block: usize,
    statement: usize,
}

/// How control gets into a block.
#[derive(Clone, Copy)]
enum Entry {
    Free,
    /// Again and again.
    Round {
        header: usize,
    },
    /// Arms of a `switch` are one block: an arm before must not jump over a declaration into it.
    Arm,
}

impl Found {
    /// Reads a list of statements, and what is inside of it.
    fn read(&mut self, list: &[Stmt], around: Option<(Mention, Entry)>) {
        let block = self.blocks.len();
        let depth = around.map_or(0, |(mention, _)| self.blocks[mention.block].depth + 1);
        self.blocks.push(Block { around, depth });
        for (statement, it) in list.iter().enumerate() {
            let here = Mention { block, statement };
            for variable in own_mentions(it) {
                self.mentions.entry(variable).or_default().push(here);
            }
            let entry = match it {
                Stmt::If { .. } => Entry::Free,
                Stmt::Loop { header, .. } => Entry::Round { header: *header },
                _ => Entry::Arm,
            };
            for inside in inner(it) {
                self.read(inside, Some((here, entry)));
            }
        }
    }

    /// The block around one, which is not the outermost.
    fn around(&self, block: usize) -> Mention {
        self.blocks[block].around.expect("an inner block is inside of a statement").0
    }

    /// The smallest block around two.
    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.blocks[a].depth >= self.blocks[b].depth {
                a = self.around(a).block;
            } else {
                b = self.around(b).block;
            }
        }
        a
    }

    /// The statement of a block that a mention is inside of.
    fn within(&self, block: usize, mut mention: Mention) -> usize {
        while mention.block != block {
            mention = self.around(mention.block);
        }
        mention.statement
    }
}
