//! [`Workflow`]: the syntax tree of a workflow, close to the source.

use crate::answerer::Answerer;
use adk_spec::OnError;
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr, Pat, Path, Type, Visibility};

/// `pub W(inputs) -> outputs { items; body }`.
#[derive(Default)]
pub(super) struct Workflow {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Option<Visibility>,
    /// The name, or `None` if the parser failed before it.
    pub(super) name: Option<Ident>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<KeyDecl>,
    pub(super) items: Items,
    pub(super) body: Vec<Node>,
    /// Paths in the order of the source, for editors.
    pub(super) mentions: Vec<Mention>,
    /// `#[bounds(...)]`.
    pub(super) bounds: Vec<Bound>,
    /// `#[guards(...)]`.
    pub(super) guards: Option<Guards>,
    /// `#[type_pairs(64)]`.
    pub(super) type_pairs: Option<usize>,
}

/// An argument of `#[bounds(model_calls = 30, time = "10m", ends)]`.
pub(super) struct Bound {
    pub(super) word: Ident,
    /// The span of the value, or of a word without a value.
    pub(super) span: Span,
    pub(super) value: BoundValue,
}

/// `#[guards(untrusted(ticket, user), private(user:plan), fresh, strict)]`.
#[derive(Default)]
pub(super) struct Guards {
    pub(super) untrusted: Vec<Key>,
    pub(super) private: Vec<Key>,
    pub(super) fresh: bool,
    pub(super) strict: bool,
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
    pub(super) states: Vec<KeyDecl>,
    pub(super) toolsets: Vec<Toolset>,
}

/// `toolset NAME: TYPE;`, or `toolset NAME: TYPE = FILE;`. Labels follow after `as`.
pub(super) struct Toolset {
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) file: Option<Expr>,
    /// The words after `as`.
    pub(super) labels: Vec<Ident>,
}

/// A path in the source. An incomplete path may end in `::`.
pub(super) struct Mention {
    pub(super) path: Path,
    pub(super) kind: MentionKind,
}

/// The kind of item that a path names.
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
pub(super) struct KeyDecl {
    pub(super) attrs: Vec<Attribute>,
    pub(super) key: Key,
    pub(super) ty: Type,
    /// Whether a `state` may be absent from the session: its type was an `Option` of `ty`.
    pub(super) perhaps: bool,
}

/// `KEY: TYPE = DEFAULT`.
pub(super) struct Input {
    pub(super) typed: KeyDecl,
    pub(super) default: Option<Expr>,
}

/// `let KEY: TYPE = EXPR;`.
pub(super) struct Let {
    pub(super) typed: KeyDecl,
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
    Llm {
        output: Option<Box<KeyDecl>>,
        fields: Box<Fields>,
    },
    /// `agent NAME: TYPE;`.
    Supplied { ty: Type },
    /// `agent NAME(reads) -> KEY: TYPE as TYPE;`.
    Described {
        reads: Vec<KeyDecl>,
        output: Option<Box<KeyDecl>>,
        ty: Type,
    },
}

#[derive(Default)]
pub(super) struct Fields {
    pub(super) name: Option<LitStr>,
    pub(super) instruction: Option<Expr>,
    pub(super) global_instruction: Option<Expr>,
    pub(super) budget: Option<LitStr>,
    pub(super) calls: ModelCalls,
    pub(super) generation: Generation,
    pub(super) tools: Tools,
    /// Calls of methods of `LlmDecl`, for fields that the expansion does not need otherwise.
    pub(super) declared: TokenStream,
    pub(super) transfer: Vec<Path>,
    /// Whether a transfer to the parent, and to peers, is disallowed.
    pub(super) disallow_transfer: [bool; 2],
    pub(super) callbacks: Vec<Callback>,
}

/// The model calls of an agent.
#[derive(Default)]
pub(super) struct ModelCalls {
    pub(super) model: Option<Expr>,
    /// Fallback models, in the order in which they are called.
    pub(super) fallback: Vec<Expr>,
    pub(super) timeout: Option<Timeout>,
    pub(super) retry: Option<Expr>,
    pub(super) max_turns: Option<Expr>,
}

/// The parameters of a model.
#[derive(Default)]
pub(super) struct Generation {
    pub(super) temperature: Option<Expr>,
    pub(super) top_p: Option<Expr>,
    pub(super) max_output_tokens: Option<Expr>,
    pub(super) stop: Vec<Expr>,
    pub(super) seed: Option<Expr>,
}

/// The list `tools` of an agent.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) list: Vec<Tool>,
    /// `tools: [find, ..]`: the program may add more tools at run time.
    pub(super) more: bool,
    /// The toolsets in the list: the number of each item, and the name at the mention.
    pub(super) sets: Vec<(usize, Ident)>,
    /// The labels of the toolsets without a file. `local` among them says that all tools that only
    /// the run knows have labels.
    pub(super) labels: Vec<Ident>,
}

pub(super) struct Tool {
    pub(super) path: Path,
    /// `agent(PATH)`: an agent as a tool.
    pub(super) is_agent: bool,
}

/// `before_agent: f`, or an item of `before_agent: [f, g]`. The parentheses of a block use `=`.
pub(super) struct Callback {
    /// The name of the hook, such as `before_agent`.
    pub(super) hook: Ident,
    pub(super) value: Expr,
}

pub(super) enum Timeout {
    /// `"30s"`.
    Millis(u64),
    /// An expression of type `Duration`.
    Value(Expr),
}

/// A step of a body.
pub(super) enum Node {
    Run(Run),
    Block(Box<Block>),
    Break(Break),
    Await(Box<Await>),
}

/// `path`, or an instance: `path(KEY = KEY) as NAME -> KEY`.
pub(super) struct Run {
    pub(super) path: Path,
    /// Pairs of the key in the definition, and the key that the instance reads.
    pub(super) reads: Vec<(Key, Key)>,
    pub(super) alias: Option<Ident>,
    /// The written keys, in the order of the definition.
    pub(super) writes: Vec<Key>,
}

/// `NAME: loop(...) < ... >`.
pub(super) struct Block {
    pub(super) attrs: Vec<Attribute>,
    pub(super) name: Option<Ident>,
    pub(super) kind: BlockKind,
    /// The word, or the opening bracket of a block without a word.
    pub(super) span: Span,
    /// The content of the parentheses as source text.
    pub(super) arguments: String,
    /// `on_error = skip` or `on_error = skip(max = 5)`.
    pub(super) on_error: OnError,
    pub(super) budget: Option<LitStr>,
    /// The steps, empty for a `match`, which has arms.
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
    Parallel {
        first: bool,
        max_concurrency: Option<Limit>,
    },
    Loop {
        max: Option<Limit>,
        until: Option<Key>,
    },
    Match(Match),
    Each {
        item: Ident,
        list: Key,
        max: Option<Limit>,
        cut: bool,
        max_concurrency: Option<Limit>,
    },
    Try(Box<Try>),
}

/// `try(attempts = 3, timeout = "30s", delay = "1s", on = all) < ... > else < ... >`.
#[derive(Default)]
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
    /// The step, or `None` for `()`.
    pub(super) node: Option<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitKind {
    Rounds,
    Elements,
    Branches,
    Attempts,
}

impl LimitKind {
    /// Returns the argument, the library function that takes it, and a description of the value.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Rounds => [
                "max",
                "max",
                "the largest number of rounds, 1 or more, as in `max = 5`",
            ],
            Self::Elements => [
                "max",
                "max_elements",
                "the largest number of elements, 1 or more, as in `max = 20`",
            ],
            Self::Branches => {
                let description = "the largest number of branches at a time, 1 or more, as in \
                    `max_concurrency = 4`";
                ["max_concurrency", "max_concurrency", description]
            }
            Self::Attempts => [
                "attempts",
                "attempts",
                "the largest number of attempts, 1 or more, as in `attempts = 3`",
            ],
        }
    }

    pub(super) const fn argument(self) -> &'static str {
        self.words()[0]
    }

    pub(super) const fn function(self) -> &'static str {
        self.words()[1]
    }

    pub(super) const fn description(self) -> &'static str {
        self.words()[2]
    }
}

/// `max = 5` or `max = ROUNDS`.
pub(super) struct Limit {
    pub(super) kind: LimitKind,
    pub(super) expr: Box<Expr>,
    /// The value of a literal.
    pub(super) literal: Option<u32>,
}

/// `NAME: await(by = "staff", timeout = "72h", default = EXPR) KEY: TYPE`.
pub(super) struct Await {
    pub(super) name: Option<Ident>,
    /// The key, its type, and the question as doc comment.
    pub(super) typed: KeyDecl,
    pub(super) by: Option<Answerer>,
    pub(super) timeout: Option<Timeout>,
    pub(super) default: Option<Expr>,
}

/// `break` or `break NAME`.
pub(super) struct Break {
    pub(super) span: Span,
    pub(super) target: Option<Ident>,
}

impl Guards {
    /// Returns all keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.untrusted.iter().chain(&self.private)
    }
}

impl Key {
    /// Returns the stored name of the key.
    pub(crate) fn text(&self) -> String {
        let name = super::names::unraw(&self.name);
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
            Self::Parallel {
                max_concurrency, ..
            } => (max_concurrency.as_mut(), None),
            Self::Each {
                max,
                max_concurrency,
                ..
            } => (max.as_mut(), max_concurrency.as_mut()),
            Self::Try(tried) => (tried.attempts.as_mut(), None),
            Self::Sequence | Self::Match(_) => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// Returns the key that controls the block.
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
    /// Returns the pattern with its guard as text.
    pub(super) fn text(&self) -> String {
        let (pattern, guard) = (&self.pattern, self.guard.iter());
        super::text::code(quote::quote!(#pattern #(if #guard)*))
    }
}
