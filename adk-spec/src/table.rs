//! The table of all checks. The names begin messages, and are the names of the documentation pages
//! and of the tests of messages.

/// Generates [`Check`] from one row per check: variant, name, and the rejected programs.
macro_rules! checks {
    ($($variant:ident $name:literal: $rejects:literal,)*) => {
        /// A rule that every workflow keeps; a workflow that breaks it does not compile.
        ///
        /// Checks that need only tokens run in the macros. Checks that need types or other crates
        /// run in const evaluation. For a tree that is built at run time,
        /// [`faults`](crate::check::faults) returns all errors as values.
        ///
        /// ```
        /// # use adk_spec as adk;
        /// use adk::check::Check;
        /// assert_eq!(Check::BlockEmpty.name(), "block-empty");
        /// assert_eq!(Check::BlockEmpty.rejects(), "a block without steps, `< >`");
        /// assert!(Check::ALL.contains(&Check::BlockEmpty));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Check {
            $(
                #[doc = concat!("`", $name, "`: ", $rejects, ".")]
                $variant,
            )*
        }

        impl Check {
            /// Every check, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name, with which each message of the check begins.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the programs that the check rejects, as Markdown.
            pub const fn rejects(self) -> &'static str {
                match self {
                    $(Self::$variant => $rejects,)*
                }
            }
        }
    };
}

checks! {
    NameDuplicate "name-duplicate": "two definitions of one name anywhere in the tree, agents and \
        blocks, nested workflows included (the remedy is `as`)",
    NameReserved "name-reserved": "`user` and `model`, which events of the user and of models \
        carry; in the macro also its words `sequence`, `parallel` and `each`",
    NameInvalid "name-invalid": "a name that is not an identifier (XID; a single `_` is not one; \
        keywords are allowed in a `name` override)",
    AgentReused "agent-reused": "one definition placed twice without `as`",
    AgentAttribute "agent-attribute": "an unknown or contradictory attribute of `#[agent]`; a \
        value without `writes`, or the reverse; `blocking` with a context; a function or type that \
        cannot be an agent",
    KeyMissing "key-missing": "a prompt, parameter, `until`, `match`, `each` or renaming that \
        reads a key that nothing before it writes and that is not an input (says which keys there \
        are, or which later step writes it, and the nearest by spelling)",
    KeyMaybeMissing "key-maybe-missing": "a read of a key that is written on some paths only: by a \
        later step of the same loop, in one arm of a `match`, after a point where the loop may \
        have ended, by a tool or a function that may leave it out",
    KeyRace "key-race": "two branches of a `parallel` that write one key, or one that reads (also \
        optionally) a key that another writes, even if it was written before the block",
    KeyType "key-type": "a key written as one type and read or written as another; `until` on a \
        key that is not a `bool`, `each` on a key that is not a list; also across modules and \
        crates",
    KeyDuplicate "key-duplicate": "a key declared twice among inputs, outputs, `let`, `state` and \
        the items of `each`; a key of a workflow that a workflow inside of it declares as `state`",
    OutputMissing "output-missing": "a declared output that is not written on every path to the \
        end",
    LoopEndless "loop-endless": "a loop without `max`, without `until`, and with nothing inside \
        that can end it",
    LoopMax "loop-max": "a `max` that is zero, negative or not a whole number; an input or key as \
        `max` (says: `set_max`)",
    BlockEmpty "block-empty": "a block without steps, `< >`",
    ExitOutsideLoop "exit-outside-loop": "a `break`, an agent or a tool that can end a loop, in no \
        loop; a `break` or `exits` with a name that is not the name of an enclosing loop",
    FieldUnknown "field-unknown": "an unknown or repeated field, block argument or renaming (says \
        the nearest)",
    ToolDuplicate "tool-duplicate": "two tools of one name in one agent",
    ToolReserved "tool-reserved": "a tool named `transfer_to_agent` or `set_model_response`, names \
        that the runtime gives to tools of its own",
    ToolUndocumented "tool-undocumented": "no doc comment on a tool, or on an agent that is used \
        as one",
    ToolArgument "tool-argument": "an argument of a tool with no type, or a type without schema",
    ToolAttribute "tool-attribute": "an unknown or contradictory attribute of `#[tool]`; a \
        function that cannot be a tool",
    ResourceMissing "resource-missing": "a workflow that is run by a runner whose resources lack a \
        type that one of its tools or agents takes; two resources of one type",
    WaitInTool "wait-in-tool": "an `await`, or a tool that is `confirm` or `long_running`, in an \
        agent that is used as a tool",
    TransferTarget "transfer-target": "a transfer to an agent that is not declared (says the \
        nearest), or that is also a step",
    BoundsExceeded "bounds-exceeded": "a workflow whose worst case is greater than its own \
        `#[bounds(...)]`, or unbounded (says the worst case and which step contributes most)",
    UntrustedAction "untrusted-action": "an agent that may see text that strangers wrote, and has a \
        tool that `acts` without a person's consent; a function that `acts` on such text (says the \
        whole way of the text)",
    LethalTrifecta "lethal-trifecta": "an agent that may see text that strangers wrote and private \
        data, and has a tool that `sends`; a function that `sends` on them",
    LiveLoop "live-loop": "`run_live` on a workflow that holds a loop or a parallel block anywhere \
        (a trait bound says so; of a tree that is built at run time `run_live` itself, with an \
        error of that name)",
    Syntax "syntax": "anything that does not parse (says what was expected there); blocks nested \
        deeper than 128",
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
