// Runs workflows with the official AG-UI client: node ag_ui.mjs SCENARIO BASE
import assert from "node:assert/strict";
import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [scenario, base] = process.argv.slice(2);

const agent = (name, threadId, headers = {}) => {
  const agent = new HttpAgent({ url: `${base}/ag-ui/${name}`, threadId, headers });
  const say = (content) => agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  return { agent, say };
};

/** Runs a workflow and returns the result with all events, whose order the client verifies. */
const run = async (agent, parameters) => {
  const events = [];
  const ended = {};
  const { result, newMessages } = await agent.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event),
    onRunFinishedEvent: ({ outcome }) => void (ended.outcome = outcome),
    onRunErrorEvent: ({ event }) => void (ended.error = event),
  });
  const steps = events.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName);
  return { events, steps, result, newMessages, ...ended };
};

const texts = (messages) => messages.filter(({ role }) => role === "assistant").map(({ content }) => content);

const scenarios = {
  async refining() {
    const { agent: writer, say } = agent("refining", "refining");
    say("cats");
    const { events, steps, result, newMessages, outcome } = await run(writer);
    assert.equal(outcome, "success");
    assert.equal(result, "Two cats.");
    for (const round of [1, 2]) {
      for (const step of ["writer", "critics", "critics/style", "critics/facts"]) {
        assert.ok(steps.includes(`refining/refinement#${round}/${step}`), steps.join());
      }
    }
    const deltas = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
    assert.deepEqual(deltas.slice(0, 2), ["One", " cat."]);
    const said = texts(newMessages);
    assert.deepEqual([said[0], said[3]], ["One cat.", "Two cats."]);
    assert.deepEqual(said.toSorted(), ["Fine.", "Good.", "One cat.", "True.", "Two cats.", "Yes."]);
    assert.deepEqual(newMessages.filter(({ role }) => role === "reasoning").map(({ content }) => content), ["Hm."]);
    assert.deepEqual(writer.state, { topic: "cats", draft: "Two cats.", style_notes: "Good.", fact_notes: "Yes." });
  },

  async tools() {
    const { agent: writer, say } = agent("writing", "tools");
    writer.setState({ "user:motto": "us" });
    say("cats");
    const { newMessages } = await run(writer);
    const [calling, answer, last] = newMessages;
    assert.equal(calling.content, "Let me count.");
    const [{ id, function: called }] = calling.toolCalls;
    assert.deepEqual([called.name, JSON.parse(called.arguments)], ["count", { text: "a b" }]);
    assert.deepEqual([answer.role, answer.toolCallId, JSON.parse(answer.content)], ["tool", id, { result: 2 }]);
    assert.equal(last.content, "Two words.");
    assert.deepEqual(writer.state, { topic: "cats", tone: "plain", draft: "Two words.", "user:motto": "us" });
  },

  async interrupt() {
    const { agent: editor, say } = agent("approval", "interrupt");
    say("cats");
    const paused = await run(editor);
    assert.equal(paused.outcome, "interrupt");
    const [{ id, reason, message, responseSchema }] = editor.pendingInterrupts;
    assert.deepEqual([reason, message], ["input_required", "May this be published? CATS CATS"]);
    assert.equal(responseSchema.title, "Decision");
    const payload = { Revise: { note: "shorter" } };
    const resume = buildResumeArray(editor.pendingInterrupts, { [id]: { status: "resolved", payload } });
    const { outcome, result, steps } = await run(editor, { resume });
    assert.deepEqual([outcome, result], ["success", "CATS CATS (shorter)"]);
    assert.deepEqual(steps, ["approval", "approval/decision", "approval/publish"]);
    assert.deepEqual(editor.pendingInterrupts, []);
    assert.equal(editor.state.post, "CATS CATS (shorter)");
  },

  async confirm() {
    const { agent: cleaner, say } = agent("cleaning", "confirm");
    say("Delete a and b.");
    const { newMessages } = await run(cleaner);
    const [{ toolCalls }] = newMessages;
    const interrupts = cleaner.pendingInterrupts;
    assert.deepEqual(interrupts.map(({ reason }) => reason), ["tool_call", "tool_call"]);
    assert.deepEqual(interrupts.map(({ toolCallId }) => toolCallId), toolCalls.map(({ id }) => id));
    // The answer in the form of the schema and in the form of the protocol.
    const answers = {
      [interrupts[0].id]: { status: "resolved", payload: true },
      [interrupts[1].id]: { status: "resolved", payload: { approved: false } },
    };
    const { outcome, result } = await run(cleaner, { resume: buildResumeArray(interrupts, answers) });
    assert.deepEqual([outcome, result], ["success", "One is gone."]);
    const tools = cleaner.messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.parse(content));
    assert.deepEqual(tools, [{ result: "a is gone" }, { error: "This tool call is rejected." }]);
    assert.equal(cleaner.messages[1].toolCalls.length, 2, "no call is told twice");
  },

  async failure() {
    const { agent: failing, say } = agent("failing", "failure");
    say("cats");
    const { error } = await run(failing);
    assert.deepEqual([error.code, error.message], ["agent", "cannot write about cats; help: ask for another"]);
  },

  async mixing() {
    const { agent: mixer, say } = agent("mixing", "mixing");
    say("cats");
    const { outcome, error, steps, events } = await run(mixer);
    assert.deepEqual([outcome, error], ["success", undefined]);
    const rounds = [1, 2].flatMap((outer) => [1, 2].map((inner) => `mixing/outer#${outer}/inner#${inner}/`));
    for (const round of rounds) assert.ok(steps.some((step) => step.startsWith(round)), steps.join());
    assert.ok(steps.some((step) => step.endsWith("billing")), steps.join());
    const ended = events.filter(({ type }) => type === "STEP_FINISHED").map(({ stepName }) => stepName);
    assert.deepEqual(ended.toSorted(), steps.toSorted());
    const { draft, "loudly/times": times } = mixer.state;
    assert.deepEqual([draft, times], ["CATS", 1]);
  },

  async breaking() {
    const { agent: breaking, say } = agent("breaking", "breaking");
    say("cats");
    const { error } = await run(breaking);
    assert.equal(error.code, "agent");
  },

  async abort() {
    const { agent: hanging, say } = agent("hanging", "aborted");
    say("cats");
    await hanging.runAgent({}, {
      onStepStartedEvent: ({ event }) => void (event.stepName === "hanging/hangs" && hanging.abortRun()),
    });
  },

  async users() {
    const [ann, bob] = ["ann", "bob"].map((user) => agent("approval", "shared", { "x-user": user }));
    ann.say("cats");
    await run(ann.agent);
    const [{ id }] = ann.agent.pendingInterrupts;
    const resume = [{ interruptId: id, status: "resolved", payload: "Publish" }];
    const { error } = await run(bob.agent, { resume });
    assert.equal(error.code, "not_found");
    const cancelled = await run(bob.agent, { resume: [{ interruptId: id, status: "cancelled" }] });
    assert.equal(cancelled.error.code, "not_found");
    bob.say("dogs");
    await run(bob.agent);
    assert.equal(bob.agent.state.topic, "dogs", "the thread of that name is another one");
    const { result } = await run(ann.agent, { resume });
    assert.equal(result, "CATS CATS");
  },
};

await scenarios[scenario]();
