//! What was written, as it was written.

use crate::by::By;
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr, Pat, Path, Type, Visibility};

/// `pub W(inputs) -> outputs { items; body }`.
#[derive(Default)]
pub(super) struct Workflow {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Option<Visibility>,
    /// `None` when not even that could be read.
    pub(super) name: Option<Ident>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Typed>,
    pub(super) items: Items,
    pub(super) body: Vec<Node>,
    /// Paths in the order of the source, for editors.
    pub(super) mentions: Vec<Mention>,
    /// `#[bounds(...)]`.
    pub(super) bounds: Vec<Bound>,
    /// `#[type_pairs(64)]`.
    pub(super) type_pairs: Option<usize>,
}

/// An argument of `#[bounds(model_calls = 30, time = "10m", ends)]`.
pub(super) struct Bound {
    pub(super) word: Ident,
    /// Where its value is, or the word where it has none.
    pub(super) span: Span,
    pub(super) value: BoundValue,
}

pub(super) enum BoundValue {
    Number(Expr),
    Time(Timeout),
    Ends,
}

#[derive(Default)]
pub(super) struct Items {
    pub(super) agents: Vec<Decl>,
    pub(super) lets: Vec<Let>,
    pub(super) states: Vec<Typed>,
    pub(super) toolsets: Vec<Toolset>,
}

/// `toolset NAME: TYPE;`, or `toolset NAME: TYPE = FILE;`.
pub(super) struct Toolset {
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) file: Option<Expr>,
}

/// A path as it was typed; it may end in `::`.
pub(super) struct Mention {
    pub(super) path: Path,
    pub(super) kind: MentionKind,
}

/// What a path leads to.
#[derive(Clone, Copy)]
pub(super) enum MentionKind {
    /// An agent or a tool.
    Type,
    /// A variant or a constant, in a pattern.
    Pattern,
    /// The value of a field.
    Value,
}

/// `plan` or `user:plan`.
pub(crate) struct Key {
    pub(super) prefix: Option<Ident>,
    pub(crate) name: Ident,
}

/// `KEY: TYPE`.
pub(super) struct Typed {
    pub(super) attrs: Vec<Attribute>,
    pub(super) key: Key,
    pub(super) ty: Type,
    /// A `state` that the session need not hold: it was written as an `Option` of the type.
    pub(super) perhaps: bool,
}

/// `KEY: TYPE = DEFAULT`.
pub(super) struct Input {
    pub(super) typed: Typed,
    pub(super) default: Option<Expr>,
}

/// `let KEY: TYPE = EXPR;`.
pub(super) struct Let {
    pub(super) typed: Typed,
    pub(super) value: Expr,
}

/// `agent NAME ...`.
pub(super) struct Decl {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    pub(super) kind: DeclKind,
}

pub(super) enum DeclKind {
    /// `agent NAME -> KEY: TYPE { fields }`.
    Llm { output: Option<Box<Typed>>, fields: Box<Fields> },
    /// `agent NAME: TYPE;`.
    Given { ty: Type },
    /// `agent NAME(reads) -> KEY: TYPE as TYPE;`.
    Described { reads: Vec<Typed>, output: Option<Box<Typed>>, ty: Type },
}

#[derive(Default)]
pub(super) struct Fields {
    pub(super) name: Option<LitStr>,
    pub(super) model: Option<Expr>,
    /// Models that are asked when one has failed.
    pub(super) fallback: Vec<Expr>,
    pub(super) budget: Option<LitStr>,
    pub(super) instruction: Option<Expr>,
    pub(super) global_instruction: Option<Expr>,
    pub(super) tools: Vec<Tool>,
    /// `tools: [find, ..]`: more may be added at run time.
    pub(super) more_tools: bool,
    /// The toolsets of `tools`: where each is mentioned, by the number of its item.
    pub(super) toolsets: Vec<(usize, Ident)>,
    /// Calls of methods of `LlmDecl`, for fields that nothing here depends on.
    pub(super) declared: TokenStream,
    pub(super) temperature: Option<Expr>,
    pub(super) top_p: Option<Expr>,
    pub(super) max_output_tokens: Option<Expr>,
    pub(super) stop: Vec<Expr>,
    pub(super) seed: Option<Expr>,
    pub(super) timeout: Option<Timeout>,
    pub(super) retry: Option<Expr>,
    pub(super) max_turns: Option<Expr>,
    pub(super) transfer: Vec<Path>,
    /// To the parent, and to peers.
    pub(super) disallow_transfer: [bool; 2],
    pub(super) callbacks: Vec<Callback>,
}

pub(super) struct Tool {
    pub(super) path: Path,
    /// `agent(PATH)`: an agent as a tool.
    pub(super) is_agent: bool,
}

/// `before_agent: f`, or one of `before_agent: [f, g]`; in the parentheses of a block with `=`.
pub(super) struct Callback {
    /// Such as `before_agent`.
    pub(super) hook: Ident,
    pub(super) value: Expr,
}

pub(super) enum Timeout {
    /// `"30s"`.
    Millis(u64),
    /// Anything that is a `Duration`.
    Value(Expr),
}

/// One step.
pub(super) enum Node {
    Run(Run),
    Block(Box<Block>),
    Break(Break),
    Await(Box<Await>),
}

/// `path`, or an instance: `path(KEY = KEY) as NAME -> KEY`.
pub(super) struct Run {
    pub(super) path: Path,
    /// The key of the definition, and the key that is read instead.
    pub(super) reads: Vec<(Key, Key)>,
    pub(super) alias: Option<Ident>,
    /// What it writes, in the order of the definition.
    pub(super) writes: Vec<Key>,
}

/// `NAME: loop(...) < ... >`.
pub(super) struct Block {
    pub(super) attrs: Vec<Attribute>,
    pub(super) name: Option<Ident>,
    pub(super) kind: BlockKind,
    /// The word, or the opening bracket of a block without one.
    pub(super) span: Span,
    /// What is in its parentheses, as it was written.
    pub(super) arguments: String,
    /// `on_error = skip`.
    pub(super) skip: bool,
    pub(super) budget: Option<LitStr>,
    /// None for a `match`, which has arms.
    pub(super) nodes: Vec<Node>,
    pub(super) callbacks: Vec<Callback>,
}

impl Block {
    pub(super) fn is_each(&self) -> bool {
        matches!(self.kind, BlockKind::Each { .. })
    }
}

pub(super) enum BlockKind {
    Sequence,
    Parallel { first: bool, max_concurrency: Option<Limit> },
    Loop { max: Option<Limit>, until: Option<Key> },
    Match(Match),
    Each { item: Ident, list: Key, max: Option<Limit>, cut: bool, max_concurrency: Option<Limit> },
    Try(Box<Try>),
}

/// `try(attempts = 3, timeout = "30s", delay = "1s", on = all) < ... > else < ... >`.
pub(super) struct Try {
    pub(super) attempts: Option<Limit>,
    pub(super) timeout: Option<Timeout>,
    pub(super) delay: Option<Timeout>,
    /// `on = all`.
    pub(super) all: bool,
    pub(super) otherwise: Option<Vec<Node>>,
}

/// `match KEY < PATTERN => step, ... >`.
pub(super) struct Match {
    pub(super) key: Key,
    pub(super) arms: Vec<Arm>,
}

/// `PATTERN if GUARD => step`.
pub(super) struct Arm {
    pub(super) pattern: Pat,
    pub(super) guard: Option<Expr>,
    /// `None` for `()`.
    pub(super) node: Option<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Rounds,
    Elements,
    Branches,
    Attempts,
}

impl Counted {
    /// The argument, the function of the library that takes it, and what it is.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Rounds => ["max", "max", "the largest number of rounds, 1 or more, as in `max = 5`"],
            Self::Elements => {
                ["max", "max_elements", "the largest number of elements, 1 or more, as in `max = 20`"]
            }
            Self::Branches => {
                let what = "the largest number of branches at a time, 1 or more, as in `max_concurrency = 4`";
                ["max_concurrency", "max_concurrency", what]
            }
            Self::Attempts => {
                ["attempts", "attempts", "the largest number of attempts, 1 or more, as in `attempts = 3`"]
            }
        }
    }

    pub(super) const fn argument(self) -> &'static str {
        self.words()[0]
    }

    pub(super) const fn function(self) -> &'static str {
        self.words()[1]
    }

    pub(super) const fn what(self) -> &'static str {
        self.words()[2]
    }
}

/// `max = 5` or `max = ROUNDS`.
pub(super) struct Limit {
    pub(super) of: Counted,
    pub(super) expr: Box<Expr>,
    /// What it is, when it is a literal.
    pub(super) literal: Option<u32>,
}

/// `NAME: await(by = "staff", timeout = "72h", default = EXPR) KEY: TYPE`.
pub(super) struct Await {
    pub(super) name: Option<Ident>,
    /// With the question as its docs.
    pub(super) typed: Typed,
    pub(super) by: Option<By>,
    pub(super) timeout: Option<Timeout>,
    pub(super) default: Option<Expr>,
}

/// `break` or `break NAME`.
pub(super) struct Break {
    pub(super) span: Span,
    pub(super) target: Option<Ident>,
}

impl Key {
    /// The key as it is stored.
    pub(crate) fn text(&self) -> String {
        let name = super::names::plain(&self.name);
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{name}"),
            None => name,
        }
    }
}

impl BlockKind {
    pub(super) fn limits_mut(&mut self) -> impl Iterator<Item = &mut Limit> {
        let (one, other) = match self {
            Self::Loop { max, .. } => (max.as_mut(), None),
            Self::Parallel { max_concurrency, .. } => (max_concurrency.as_mut(), None),
            Self::Each { max, max_concurrency, .. } => (max.as_mut(), max_concurrency.as_mut()),
            Self::Try(tried) => (tried.attempts.as_mut(), None),
            Self::Sequence | Self::Match(_) => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// The key that steers it.
    pub(super) fn key(&self) -> Option<&Key> {
        match self {
            Self::Loop { until, .. } => until.as_ref(),
            Self::Match(choice) => Some(&choice.key),
            Self::Each { list, .. } => Some(list),
            Self::Sequence | Self::Parallel { .. } | Self::Try(_) => None,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Parallel { .. } => "parallel",
            Self::Loop { .. } => "loop",
            Self::Match(_) => "match",
            Self::Each { .. } => "each",
            Self::Try(_) => "try",
        }
    }
}

impl Arm {
    /// The pattern with its guard, as text.
    pub(super) fn text(&self) -> String {
        let (pattern, guard) = (&self.pattern, self.guard.iter());
        super::text::code(quote::quote!(#pattern #(if #guard)*))
    }
}
