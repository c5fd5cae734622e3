use adk::prelude::*;

struct Pool;
struct Smtp;

#[derive(adk::Resources)]
struct App {
    pool: Pool,
}

#[derive(adk::Resources)]
struct Twice {
    read: String,
    write: String,
}

#[derive(adk::Resources)]
enum Either {
    One,
}

/// Finds.
#[tool]
fn find(#[resource] pool: &Pool, id: u64) -> Option<u64> {
    let _ = pool;
    Some(id)
}

/// Sends.
#[agent]
fn send(draft: &str, #[resource] smtp: &Smtp) {
    let _ = (draft, smtp);
}

workflow! {
    pub Desk(id: u64) -> draft: String {
        agent clerk -> draft: String { instruction: "Answer {id}.", tools: [find], max_turns: 2 }

        clerk
    }
}

workflow! {
    pub Sending(id: u64) {
        Desk; send
    }
}

async fn run(plain: &Runner, runner: &Runner<App>) -> Result<()> {
    plain.run(&Desk::default(), 1_u64).await?;
    runner.run(&Desk::default(), 1_u64).await?;
    runner.run(&Sending::default(), 1_u64).await?;
    runner.session("ann", "1").run(&Sending::default(), 1_u64).await?;
    Runner::builder().resources(App { pool: Pool }).workflow(Sending::default()).build()?;
    Ok(())
}

fn main() {}
