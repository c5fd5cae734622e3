//! Random blocks: the keys that are known inside and after them.

use super::{Grower, Here, is_note, key_from};
use crate::pairs::construct::Construct;
use crate::tree::*;
use adk_build::spec::{OnError, Over};

impl Grower {
    pub(super) fn parallel(&mut self, here: &mut Here) -> Node {
        let first = self.may(4, &[Construct::First]) && !self.wants(&[Construct::Parallel]);
        // With one branch at a time, the first branch wins every race, and the others never end a
        // loop.
        let limit = self
            .random
            .one_in(4)
            .then(|| 1 + u32::from(first) + self.random.below(3) as u32);
        let (mut inside, mut known) = (Vec::new(), here.known.clone());
        let mut won: Option<Vec<Key>> = None;
        let (mut touched, mut taken) = (here.touched.clone(), here.taken.clone());
        for _ in 0..1 + self.random.below(3) {
            let mut own = Here {
                depth: here.depth - 1,
                touched: touched.clone(),
                taken: taken.clone(),
                ..here.clone()
            };
            let branch = match !self.wanted.is_empty() || self.random.one_in(2) {
                true => self.node(&mut own),
                false if own.depth > 0 => self.sequence(&mut own),
                false => self.node(&mut own),
            };
            match &mut won {
                None => won = Some(own.known.clone()),
                Some(won) => won.retain(|key| own.known.contains(key)),
            }
            known.extend(own.known);
            let branch_writes = all_written(std::slice::from_ref(&branch));
            touched.extend(read(std::slice::from_ref(&branch)));
            if !first || self.random.one_in(2) {
                touched.extend(&branch_writes);
            }
            taken.extend(&branch_writes);
            inside.push(branch);
        }
        here.known = won.filter(|_| first).unwrap_or(known);
        self.block(Kind::Parallel { limit, first }, "p", inside)
    }

    pub(super) fn arms(&mut self, here: &mut Here) -> Node {
        let key = self.read(here, false).filter(|key| !is_secret(key));
        let Some(key) = key else {
            return Node::Run(self.agent(here));
        };
        let mut inside = Vec::new();
        let mut known: Option<Vec<Key>> = None;
        for _ in 0..1 + self.random.below(3) {
            let mut own = Here {
                depth: here.depth - 1,
                ..here.clone()
            };
            let arm = match self.random.below(6) {
                0 => Node::Nothing,
                1 if !here.loops.is_empty() => Node::Break(self.target(here, Construct::BreakTo)),
                2 | 3 if own.depth > 0 && self.wanted.is_empty() => self.sequence(&mut own),
                _ => self.node(&mut own),
            };
            if !matches!(arm, Node::Break(_)) {
                match &mut known {
                    None => known = Some(own.known),
                    Some(known) => known.retain(|key| own.known.contains(key)),
                }
            }
            inside.push(arm);
        }
        here.known = known.unwrap_or_else(|| here.known.clone());
        self.block(Kind::Match { key }, "m", inside)
    }

    pub(super) fn elements(&mut self, here: &mut Here) -> Node {
        // After an `each`, the keys that it has written are lists.
        let is_list = |key: &&Key| {
            if is_note(key) {
                here.eaches == 0 || type_of(key).starts_with("Vec")
            } else {
                LISTS.contains(key)
            }
        };
        let lists: Vec<_> = here
            .known
            .iter()
            .filter(is_list)
            .filter(|key| !here.taken.contains(key))
            .collect();
        let list = match lists.is_empty() {
            true if !self.careless() => return Node::Run(self.agent(here)),
            true => *self.random.choose(LISTS),
            false => **self.random.choose(&lists),
        };
        let item = if self.careless() {
            key_from(&mut self.random, &[PLAIN, &["n1", "n2"], STATES])
        } else {
            *self.random.choose(ITEMS)
        };
        let limit = self
            .random
            .one_in(4)
            .then(|| 1 + self.random.below(2) as u32);
        let mut own = Here {
            depth: here.depth - 1,
            eaches: here.eaches + 1,
            ..here.clone()
        };
        if !self.random.one_in(4) {
            // Elements may write the outer lists as their own keys.
            own.known.retain(|key| !is_note(key));
        }
        own.known.push(item);
        let inside = self.nodes(&mut own);
        here.known.extend(
            written(&inside)
                .into_iter()
                .filter(|key| !OWN.contains(key)),
        );
        let over = match (
            self.wants(&[Construct::EachMax]),
            self.wants(&[Construct::EachCut]),
        ) {
            (true, false) => Over::Fail,
            (false, true) => Over::Cut,
            _ => *self.random.choose(&[Over::Cut, Over::Fail]),
        };
        let is_limited = self.may(4, &[Construct::EachMax, Construct::EachCut]);
        let max = is_limited.then(|| (1 + self.random.below(2) as u32, over));
        self.block(
            Kind::Each {
                item,
                list,
                max,
                limit,
            },
            "e",
            inside,
        )
    }

    pub(super) fn tried(&mut self, here: &mut Here) -> Node {
        let name = self.name("try");
        let mut own = Here {
            depth: here.depth - 1,
            ..here.clone()
        };
        let mut inside = self.nodes(&mut own);
        let most = 1 + self.random.below(3) as u32;
        if self.may(2, &[Construct::Else]) {
            let mut other = Here {
                depth: here.depth - 1,
                ..here.clone()
            };
            other.known.push(ERROR);
            let otherwise = self.nodes(&mut other);
            own.known.retain(|key| other.known.contains(key));
            let kind = Kind::Else;
            inside.push(Node::Block(Block {
                name: name.clone(),
                kind,
                inside: otherwise,
                skippable: false,
                on_error: OnError::Fail,
                spelled: false,
            }));
        }
        here.known = own.known;
        Node::Block(Block {
            name,
            kind: Kind::Try { most },
            inside,
            skippable: false,
            on_error: OnError::Fail,
            spelled: false,
        })
    }

    pub(super) fn rounds(&mut self, here: &mut Here) -> Node {
        let name = self.name("l");
        here.loops.push(name.clone());
        here.depth -= 1;
        let mut inside = self.nodes(here);
        let mut max = (!self.random.one_in(3)).then(|| 1 + self.random.below(3) as u32);
        let is_flag =
            |key: &&Key| FLAGS.contains(key) || (here.eaches > 0 && type_of(key) == "bool");
        let flags: Vec<_> = here
            .known
            .iter()
            .filter(|key| is_flag(key) && !here.taken.contains(key))
            .copied()
            .collect();
        let mut until = None;
        if self.may(3, &[Construct::LoopUntil]) && (!flags.is_empty() || self.careless()) {
            until = Some(if flags.is_empty() {
                FLAGS[0]
            } else {
                *self.random.choose(&flags)
            });
        }
        if max.is_none() && until.is_none() && !self.careless() && self.random.one_in(2) {
            let mut agent = self.agent(here);
            agent.exit = true;
            inside.push(Node::Run(agent));
        } else if max.is_none() && until.is_none() && !self.careless() && !may_end(&inside) {
            max = Some(2);
        }
        here.loops.pop();
        here.depth += 1;
        Node::Block(Block {
            name,
            kind: Kind::Loop { max, until },
            inside,
            skippable: false,
            on_error: OnError::Fail,
            spelled: false,
        })
    }
}

/// Whether any step may end a loop.
fn may_end(nodes: &[Node]) -> bool {
    let mut found = false;
    each(nodes, &mut |node| match node {
        Node::Break(_) => found = true,
        Node::Run(agent) => found = found || agent.exit || !agent.leaves.is_empty(),
        _ => {}
    });
    found
}

/// Returns the keys that nodes read.
fn read(nodes: &[Node]) -> Vec<Key> {
    let mut keys = Vec::new();
    each(nodes, &mut |node| match node {
        Node::Run(agent) => keys.extend(agent.reads.iter().map(|read| read.key)),
        Node::Nested(nested) => {
            keys.extend(nested.flow.inputs.iter().map(|(key, _)| nested.read(key)))
        }
        Node::Block(Block { kind, .. }) => match kind {
            Kind::Match { key } => keys.push(key),
            Kind::Each { list, .. } => keys.push(list),
            Kind::Loop { until, .. } => keys.extend(until),
            Kind::Sequence | Kind::Parallel { .. } | Kind::Try { .. } | Kind::Else => {}
        },
        Node::Break(_) | Node::Nothing => {}
    });
    keys
}
