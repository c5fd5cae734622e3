// An agent of the official A2A SDK: node a2a_server.mjs. It prints its port, then a line for each call and each message
// that it executes. A line on standard input continues the held messages.
import { createInterface } from "node:readline";
import express from "express";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";

const text = (value) => ({ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" });
const data = (value) => ({ content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "" });

let release;
const released = new Promise((go) => void (release = go));
createInterface(process.stdin).once("line", () => release());

class Executor {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const ids = { taskId, contextId, metadata: undefined };
    const message = (...parts) => ({
      messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts,
      metadata: undefined, extensions: [], referenceTaskIds: [],
    });
    const status = (state, said) => ({ state, message: said, timestamp: new Date().toISOString() });
    const artifact = (...parts) => ({ artifactId: "a", name: "answer", description: "", parts, metadata: undefined, extensions: [] });
    const update = (state, said) => bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(state, said) }));
    const piece = (part, append, lastChunk) =>
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact: artifact(part), append, lastChunk }));
    const [{ content }] = userMessage.parts;
    const said = content.$case === "text" ? content.value : content.value.what;
    console.log(`executes ${said}`);
    if (said === "say") {
      bus.publish(AgentEvent.message(message(text("Said."))));
      return bus.finished();
    }
    if (!task) {
      const status_ = status(TaskState.TASK_STATE_SUBMITTED);
      bus.publish(AgentEvent.task({ id: taskId, contextId, status: status_, artifacts: [], history: [userMessage], metadata: undefined }));
    }
    if (said === "ask") return update(TaskState.TASK_STATE_INPUT_REQUIRED, message(text("Who are you?")));
    update(TaskState.TASK_STATE_WORKING);
    if (said === "fail") throw new Error("no cats here");
    if (said === "hold") await released;
    if (said === "count") {
      piece(data({ count: content.value.times }), false, true);
    } else {
      piece(text("You said "), false, false);
      piece(text(`${said}.`), true, true);
    }
    update(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask() {}
}

const app = express();
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  const card = {
    name: "official", description: "Answers.", version: "1", provider: undefined,
    supportedInterfaces: [{ url: `http://127.0.0.1:${port}/rpc`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {}, securityRequirements: [], signatures: [],
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/rpc", express.json(), ({ body }, _, next) => {
    console.log(`calls ${body.method}`);
    next();
  });
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(port);
});
