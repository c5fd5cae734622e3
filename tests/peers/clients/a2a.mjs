// Calls workflows with the official A2A client: node a2a.mjs. It prints the port of its webhook, and reads the address of
// the server from standard input.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { ClientFactory } from "@a2a-js/sdk/client";
import { Role, TaskState } from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";

const posted = [];
let heard = () => {};
const hook = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => void (body += chunk));
  request.on("end", () => {
    response.end();
    posted.push({ headers: request.headers, body: JSON.parse(body) });
    heard();
  });
});
await new Promise((listening) => hook.listen(0, "127.0.0.1", listening));
console.log(hook.address().port);
const base = await new Promise((line) => createInterface(process.stdin).once("line", line));

const text = (value) => ({ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" });
const data = (value) => ({ content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "" });
const says = (parts, more = {}) => ({
  messageId: crypto.randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, parts,
  metadata: undefined, extensions: [], referenceTaskIds: [], ...more,
});
const send = (parts, more) => ({ tenant: "", message: says(parts, more), configuration: undefined, metadata: undefined });
const client = (name) => new ClientFactory().createFromUrl(`${base}/a2a/${name}/`);
const task = (id) => ({ tenant: "", id });
const shown = (task) => task.artifacts.map(({ parts }) => parts.map(({ content }) => content.value).join("")).join();

/** Returns all payloads of a stream as [case, value]. */
const all = async (stream) => {
  const events = [];
  for await (const { payload } of stream) events.push([payload.$case, payload.value]);
  return events;
};

const scenarios = {
  async card() {
    const card = await (await client("telling")).getAgentCard();
    assert.equal(card.name, "telling");
    assert.deepEqual(card.supportedInterfaces.map(({ url }) => url), [`${base}/a2a/telling`]);
    assert.ok(card.capabilities.streaming && card.capabilities.pushNotifications);
    assert.equal(card.skills[0].id, "telling");
  },

  async send() {
    const shouting = await client("shouting");
    const sent = await shouting.sendMessage(send([data({ topic: "cats", times: 2 })], { contextId: "talk" }));
    assert.equal(sent.status.state, TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual([shown(sent), sent.contextId], ["CATS CATS", "talk"]);
    const got = await shouting.getTask({ ...task(sent.id), historyLength: 1 });
    // The inputs are state. A message that only has `data` puts nothing into the history.
    assert.deepEqual([shown(got), got.history.length], ["CATS CATS", 0]);
    const list = await shouting.listTasks({ tenant: "", contextId: "talk", status: TaskState.TASK_STATE_COMPLETED, pageToken: "" });
    assert.deepEqual([list.totalSize, list.tasks[0].id], [1, sent.id]);
    await assert.rejects(shouting.getTask(task("nothing")), TaskNotFoundError);
    await assert.rejects(shouting.cancelTask(task(sent.id)), TaskNotCancelableError);
    await assert.rejects(all(shouting.resubscribeTask(task(sent.id))), UnsupportedOperationError);
    await assert.rejects(shouting.sendMessage(send([text("x")], { taskId: sent.id })), UnsupportedOperationError);
  },

  async stream() {
    const events = await all((await client("telling")).sendMessageStream(send([text("cats")])));
    assert.deepEqual([events[0][0], events[0][1].status.state], ["task", TaskState.TASK_STATE_WORKING]);
    let story = "";
    let pieces = 0;
    for (const [, { artifact, append, lastChunk }] of events.filter(([kind]) => kind === "artifactUpdate")) {
      const piece = artifact.parts[0].content.value;
      story = append ? story + piece : piece;
      pieces += 1;
      if (lastChunk) assert.equal(story, "A cat sat.");
    }
    assert.deepEqual([story, pieces], ["A cat sat.", 3]);
    const [kind, last] = events.at(-1);
    assert.deepEqual([kind, last.status.state], ["statusUpdate", TaskState.TASK_STATE_COMPLETED]);
  },

  async input() {
    const approval = await client("approval");
    const sent = await approval.sendMessage(send([text("cats")]));
    assert.equal(sent.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    const [question, asked] = sent.status.message.parts;
    assert.equal(question.content.value, "May this be published? CATS CATS");
    assert.ok(asked.content.value.schema);
    const answer = send([data({ Revise: { note: "shorter" } })], { taskId: sent.id, contextId: sent.contextId });
    const events = await all(approval.sendMessageStream(answer));
    assert.equal(events.at(-1)[1].status.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(shown(await approval.getTask(task(sent.id))), "CATS CATS (shorter)");
  },

  async cancel() {
    const hanging = await client("hanging");
    const begun = hanging.sendMessageStream(send([text("x")]));
    const { value } = await begun.next();
    const { id } = value.payload.value;
    // The connection is lost, and the task continues.
    await begun.return();
    const again = hanging.resubscribeTask(task(id));
    assert.equal((await again.next()).value.payload.value.status.state, TaskState.TASK_STATE_WORKING);
    const cancelled = await hanging.cancelTask({ ...task(id), metadata: undefined });
    assert.equal(cancelled.status.state, TaskState.TASK_STATE_CANCELED);
    const rest = await all(again);
    assert.equal(rest.at(-1)[1].status.state, TaskState.TASK_STATE_CANCELED);
  },

  async push() {
    const approval = await client("approval");
    const url = `http://127.0.0.1:${hook.address().port}/tasks`;
    const config = { tenant: "", id: "mine", taskId: "", url, token: "sesame", authentication: undefined };
    const sent = await approval.sendMessage(send([text("dogs")]));
    const made = await approval.createTaskPushNotificationConfig({ ...config, taskId: sent.id });
    assert.deepEqual([made.id, made.taskId, made.url], ["mine", sent.id, url]);
    const { configs } = await approval.listTaskPushNotificationConfig({ tenant: "", taskId: sent.id, pageSize: 0, pageToken: "" });
    assert.deepEqual(configs.map(({ id }) => id), ["mine"]);
    const got = await approval.getTaskPushNotificationConfig({ tenant: "", taskId: sent.id, id: "mine" });
    assert.equal(got.token, "sesame");
    await approval.sendMessage(send([text("Publish")], { taskId: sent.id }));
    const completed = () => posted.find(({ body }) => body.statusUpdate?.status.state === "TASK_STATE_COMPLETED");
    while (!completed()) await new Promise((next) => void (heard = next));
    assert.equal(completed().headers["x-a2a-notification-token"], "sesame");
    assert.equal(completed().body.statusUpdate.taskId, sent.id);
    await assert.rejects(
      approval.createTaskPushNotificationConfig({ ...config, taskId: sent.id, url: "http://169.254.169.254/" }),
    );
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  await scenario().catch((error) => {
    throw new Error(`scenario ${name}`, { cause: error });
  });
  console.log(name);
}
process.exit(0);
