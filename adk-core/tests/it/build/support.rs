//! A hand-written agent with a name known at run time, and the trace of a run.

use adk_build::testing::ScriptedModel;
use adk_build::{
    AgentMeta, BoxFuture, Content, Context, DynAgent, Event, Flow, Prepare, Result, Runner,
    Workflow,
};

/// Emits its name, and ends the loop in one round.
pub struct Says {
    name: String,
    exits_in: Option<u32>,
    meta: AgentMeta<'static>,
}

/// Makes an agent with a name known at run time. Its description is leaked for the test.
pub fn says(name: &str) -> Says {
    let name = name.to_owned();
    let meta = AgentMeta::custom(Box::leak(name.clone().into_boxed_str()));
    Says {
        name,
        exits_in: None,
        meta,
    }
}

impl Says {
    /// Ends the innermost loop in `round`, counted from 1; 0 outside of any loop.
    pub fn exits_in(mut self, round: u32) -> Self {
        self.exits_in = Some(round);
        self
    }

    /// Declares that the agent may end a loop.
    pub fn announced(mut self) -> Self {
        self.meta = self.meta.may_exit(true);
        self
    }
}

impl DynAgent for Says {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.meta
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            cx.emit(Event::new().with_content(Content::model(&*self.name)))
                .await?;
            let round = cx.iteration().map_or(0, |round| round + 1);
            Ok(Flow::exit_if(self.exits_in == Some(round)))
        })
    }

    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

/// Runs a tree and returns path and branch of each event after the user's event.
pub async fn run_lines<W: Workflow<Input = Content, Output = ()> + adk_build::Needs + ?Sized>(
    tree: &W,
) -> Result<Vec<String>> {
    let runner: Runner = Runner::builder().model(ScriptedModel::new()).build()?;
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        let branch = event
            .branch
            .as_deref()
            .map_or(String::new(), |branch| format!(" [{branch}]"));
        all.push(format!("{}{branch}", event.path));
    }
    all.remove(0);
    Ok(all)
}
