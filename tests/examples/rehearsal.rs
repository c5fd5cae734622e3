//! Without a key, an example rehearses and reports it.

use crate::process::{WRITERS, example};

#[tokio::test]
async fn a_rehearsal_reports_itself_and_shows_the_run() {
    let ran = example("iterative_writing", &["a", "cat"])
        .run()
        .await
        .good();
    assert!(
        ran.err.starts_with("Rehearsal: GEMINI_API_KEY is not set"),
        "{}",
        ran.err
    );
    assert_eq!(
        ran.out,
        "\
[user] a cat
[initial_writer] (rehearsed answer of initial_writer)
[critic, round 1] (rehearsed answer of critic, round 1)
[refiner, round 1] (rehearsed answer of refiner, round 1)
[critic, round 2] (rehearsed answer of critic, round 2)
[refiner, round 2] calls exit_loop({})
[refiner, round 2] ends the loop

--- result ---
(rehearsed answer of refiner, round 1)

iterative_writing/refinement ended in round 2, by refiner
"
    );
}

#[tokio::test]
async fn with_prompts_a_rehearsal_shows_each_model_request() {
    let ran = example("iterative_writing", &["--prompts", "a", "cat"])
        .run()
        .await
        .good();
    let (first, rest) = ran.err.split_once("\n\n").expect("several requests");
    let asked = "initial_writer is asked (at iterative_writing/initial_writer):\n    ";
    assert!(first.starts_with(asked), "{first}");
    // The output shows rendered prompts, tools, their results, and changes of the state.
    assert!(first.contains("a cat"), "{first}");
    let refiner = "refiner, round 2 is asked (at iterative_writing/refinement#2/refiner):\n    ";
    let (_, refiner) = rest.split_once(refiner).expect("the refiner is asked");
    assert!(
        refiner.contains("(rehearsed answer of critic, round 2)"),
        "{refiner}"
    );
    assert!(refiner.contains("\n  tool exit_loop(): "), "{refiner}");
    let state = "[critic, round 1] criticism = \"(rehearsed answer of critic, round 1)\"\n";
    assert!(ran.out.contains(state), "{}", ran.out);

    let ran = example("search_verify", &["--prompts", "bicycles?"])
        .run()
        .await
        .good();
    assert!(
        ran.err
            .contains("is asked (at search_verify/searching#1/searcher)"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn a_rehearsed_score_ends_the_loop_of_its_threshold() {
    let ran = example("quality_loop", &["me and him goes to shop"])
        .run()
        .await
        .good();
    assert!(
        ran.out.contains("[analyzer, round 1] {\"score\":0,"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.ends_with(
            "score 100 of 100\n\nquality_loop/improving ended in round 2, by good_enough\n"
        ),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn branches_are_rehearsed_before_their_readers() {
    let ran = example("parallel_research", &["tea"]).run().await.good();
    let authors: Vec<_> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split(']').next())
        .collect();
    assert_eq!(
        authors,
        ["user", "historian", "scientist", "economist", "editor"]
    );
    assert!(
        ran.out
            .ends_with("--- result ---\n(rehearsed answer of editor)\n\n4 model calls, 0 tokens\n"),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn the_arm_of_a_rehearsed_reply_runs() {
    let ran = example("triage", &["the shop is empty"]).run().await.good();
    assert_eq!(
        ran.out,
        "\
[user] the shop is empty
[rater] {\"Outage\":{\"customers\":1}}
[engineer] (rehearsed answer of engineer)
[polite] (rehearsed answer of polite)

--- result ---
(rehearsed answer of polite)
"
    );
}

#[tokio::test]
async fn the_target_of_a_handover_replies_in_a_rehearsal() {
    let ran = example("support_desk", &["invoice 7 is wrong"])
        .run()
        .await
        .good();
    let authors: Vec<_> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split(']').next())
        .collect();
    assert_eq!(
        authors,
        ["user", "desk", "billing", "billing"],
        "{}",
        ran.out
    );
    for said in [
        "[desk] calls transfer_to_agent({\"agent_name\":\"billing\"})\n",
        "[billing] calls find_invoice(",
    ] {
        assert!(ran.out.contains(said), "{said:?} is not in {}", ran.out);
    }
}

#[tokio::test]
async fn elements_are_rehearsed_and_joined_in_the_order_of_their_list() {
    let ran = example("topic_research", &["tea"]).run().await.good();
    for said in [
        "[researcher, item 0] (rehearsed answer of researcher, item 0)\n",
        "[skeptic, item 1] (rehearsed answer of skeptic, item 1)\n",
        "finding = [\"(rehearsed answer of researcher, item 0)\",\"(rehearsed answer of \
         researcher, item 1)\"]\n",
    ] {
        assert!(ran.out.contains(said), "{said:?} is not in {}", ran.out);
    }
    assert!(
        ran.out
            .ends_with("--- result ---\n(rehearsed answer of writer)\n\n2 topics, 6 model calls\n"),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn a_key_of_until_is_rehearsed() {
    let ran = example("headline", &["The library opens on Sundays."])
        .run()
        .await
        .good();
    assert!(
        ran.out
            .contains("[judge, round 1] \"Vague\"\n[measure, round 1] printable = false\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.ends_with(
            "[measure, round 2] printable = true\n\n--- result ---\n(rehearsed answer of writer, \
             round 2)\n\nheadline/drafting ended in round 2, since its `until` key is true\n"
        ),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn instances_work_on_their_own_keys_until_the_outer_loop_ends() {
    let ran = example("article_and_post", &["The library opens on Sundays."])
        .run()
        .await
        .good();
    for said in [
        "[measure, round 1] article_longest = 6\n[measure_post, round 1] post_longest = 6\n",
        "[polishing, round 1] polishing/longest = 6\n[polish_post, round 1] polish_post/longest = \
         6\n",
    ] {
        assert!(ran.out.contains(said), "{said:?} is not in {}", ran.out);
    }
    assert!(
        ran.out.ends_with(
            "[judge, round 2] \"Print\"\n\n--- result ---\n(rehearsed answer of editor, round 1)\n\
             \n(rehearsed answer of polish_post::editor, round 1)\n\n\
             article_and_post/drafts#1/rounds ended in round 2, by a `break`\n\n\
             article_and_post/drafts ended in round 1, by a `break`\n"
        ),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn the_input_comes_from_the_command_line_or_from_standard_input() {
    for name in WRITERS {
        let typed = example(name, &["a", "small", "cat"]).run().await.good();
        assert!(
            typed.out.starts_with("[user] a small cat\n"),
            "{}",
            typed.out
        );
        let piped = example(name, &[])
            .input("  a small cat\n")
            .run()
            .await
            .good();
        assert_eq!(piped.out, typed.out);
        let dashed = example(name, &["-"])
            .input("a small cat")
            .run()
            .await
            .good();
        assert_eq!(dashed.out, typed.out);
    }
}

#[tokio::test]
async fn with_json_standard_output_contains_only_events() {
    for name in WRITERS {
        let ran = example(name, &["--json", "a cat"]).run().await.good();
        let events = ran.events();
        assert_eq!(
            (events[0].author.as_ref(), events[0].text().as_str()),
            ("user", "a cat")
        );
        assert!(
            events.len() >= 4
                && events
                    .iter()
                    .all(|event| !event.partial && !event.id.is_nil()),
            "{events:?}"
        );
        assert!(
            events
                .iter()
                .all(|event| event.path.to_string().starts_with(name)),
            "{events:?}"
        );
        assert!(ran.err.starts_with("Rehearsal: "), "{}", ran.err);
    }
    let ran = example("banana_picture", &["3", "--json"])
        .run()
        .await
        .good();
    let events = ran.events();
    let drawn = events
        .iter()
        .filter(|event| !event.actions.artifact_delta.is_empty())
        .count();
    // The requested number, a picture and a count in each round, and the end of the loop.
    assert_eq!(events.len(), 1 + 2 * drawn + 1);
}

#[tokio::test]
async fn help_describes_the_example_and_shows_its_workflow() {
    for (name, said) in [
        (
            "iterative_writing",
            [
                "Writes a first draft, then critiques",
                "[TOPIC]",
                "refinement: loop(max = 5)",
            ],
        ),
        (
            "quality_loop",
            ["Improves a text until it is good", "[TEXT]", "good_enough"],
        ),
        (
            "parallel_research",
            [
                "Researches a subject from three sides",
                "[SUBJECT]",
                "research: parallel",
            ],
        ),
        (
            "triage",
            [
                "Rates a ticket",
                "[TICKET]",
                "reply(message = findings) as polite -> answer",
            ],
        ),
        (
            "support_desk",
            [
                "a customer of a bicycle shop",
                "[QUESTION]",
                "transfer to billing",
            ],
        ),
        (
            "topic_research",
            [
                "topic by topic",
                "[SUBJECT]",
                "each(max_concurrency = 4) topic in topics",
            ],
        ),
        (
            "headline",
            ["Finds a headline", "[TEXT]", "Verdict::NoNews => break"],
        ),
        (
            "article_and_post",
            ["an article and a post", "[NEWS]", "as polish_post -> post"],
        ),
        (
            "banana_picture",
            [
                "Draws until the number of bananas is right",
                "[NUMBER]",
                "counter -> bananas",
            ],
        ),
    ] {
        let ran = example(name, &["--help"]).run().await.good();
        for said in said
            .into_iter()
            .chain(["--model", "--json", "standard input"])
        {
            assert!(ran.out.contains(said), "{said:?} is not in {}", ran.out);
        }
    }
}

#[tokio::test]
async fn mermaid_prints_the_diagram_and_runs_nothing() {
    for name in WRITERS {
        let ran = example(name, &["--mermaid"])
            .input("a cat")
            .run()
            .await
            .good();
        assert!(
            ran.out.starts_with("%%{init: ") && ran.out.contains(&format!("([\"{name}(")),
            "{}",
            ran.out
        );
        assert_eq!(ran.err, "");
        if name == "iterative_writing" {
            let readme = include_str!("../../README.md");
            assert!(
                readme.contains(&format!("\n```mermaid\n{}```\n", ran.out)),
                "{}",
                ran.out
            );
        }
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_the_example_quietly() {
    for name in WRITERS {
        let ran = example(name, &["a cat"]).run_until_closed(6).await.good();
        assert_eq!(ran.out, "[user]");
        assert_eq!(ran.err.matches('\n').count(), 3, "{}", ran.err);
    }
}

#[tokio::test]
async fn the_improvement_loop_prints_its_last_text() {
    let ran = example("improvement_loop", &["me", "and", "him"])
        .run()
        .await
        .good();
    assert!(
        ran.err.starts_with("Rehearsal: there is no key"),
        "{}",
        ran.err
    );
    assert_eq!(
        ran.out,
        "\
(rehearsed answer of improver, round 3)

last score: (rehearsed answer of analyzer, round 3)
"
    );
    let bad = example("improvement_loop", &[]).run().await;
    assert!(
        !bad.status.success() && bad.err.contains("nothing to improve"),
        "{}",
        bad.err
    );
}

#[tokio::test]
async fn a_tree_from_a_config_runs() {
    let ran = example("tree_from_config", &["a", "cat"])
        .run()
        .await
        .good();
    assert_eq!(
        ran.out,
        "\
story()
└─ sequence
   ├─ initial_writer -> draft
   ├─ refinement: loop(max = 3)
   │  ├─ critic -> criticism
   │  └─ refiner -> draft
   └─ closing -> farewell
[user] a cat
[initial_writer] (rehearsed answer of initial_writer)
[critic, round 1] (rehearsed answer of critic, round 1)
[refiner, round 1] (rehearsed answer of refiner, round 1)
[critic, round 2] (rehearsed answer of critic, round 2)
[refiner, round 2] calls exit_loop({})
[refiner, round 2] ends the loop
[closing] farewell = \"The end, after 6 words.\"

--- result ---
(rehearsed answer of refiner, round 1)

The end, after 6 words.
"
    );
    let folder = std::env::temp_dir().join(format!("adk-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let config = folder.join("bad.json");
    let text = r#"{
        "agent_class": "LoopAgent",
        "name": "lp",
        "max_iterations": -3,
        "sub_agents": ["critic", {"nam": "x"}]
    }"#;
    std::fs::write(&config, text).expect("a file");
    let bad = example(
        "tree_from_config",
        &["--config", &config.to_string_lossy(), "a cat"],
    )
    .run()
    .await;
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(!bad.status.success());
    assert_eq!(
        bad.err,
        "\
error: max_iterations: loop-max: `max_iterations` of block `lp` is -3; help: it is the largest \
    number of rounds, 1 or more
sub_agents[0]: field-unknown: there is no agent `critic`; help: use `closing`
sub_agents[1].name: name-invalid: an agent has no name; help: give it a `name`
sub_agents[1].nam: field-unknown: an `LlmAgent` has no field `nam`; help: did you mean `name`?
"
    );
}
