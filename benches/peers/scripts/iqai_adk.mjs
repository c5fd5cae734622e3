// The adapter of the scenarios to @iqai/adk.
import {
  BaseAgent, BaseLlm, BaseTool, Event, EventActions, InMemoryRunner, LlmAgent, LlmResponse, LoopAgent, ParallelAgent,
  RunConfig, SequentialAgent, StreamingMode,
} from '@iqai/adk';
import { content, measure, text } from './scenarios.mjs';

class Custom extends BaseAgent {
  constructor(name, emits) {
    super({ name, description: name });
    this.emits = emits;
  }
  async *runAsyncImpl(context) {
    if (this.emits === 'nothing') return;
    yield new Event({
      invocationId: context.invocationId,
      author: this.name,
      branch: context.branch,
      content: content('model', text('hello world 1234')),
      actions: new EventActions(this.emits === 'key' ? { stateDelta: { counter: 1 } } : {}),
    });
  }
}

class Model extends BaseLlm {
  constructor(answers) {
    super('scripted');
    this.answers = answers;
  }
  async *generateContentAsyncImpl() {
    for await (const answer of this.answers()) yield new LlmResponse(answer);
  }
}

class Add extends BaseTool {
  constructor() {
    super({ name: 'add', description: 'Adds two numbers.' });
  }
  getDeclaration() {
    const properties = { a: { type: 'INTEGER' }, b: { type: 'INTEGER' } };
    return { name: this.name, description: this.description, parameters: { type: 'OBJECT', properties, required: ['a', 'b'] } };
  }
  async runAsync({ a, b }) {
    return a + b;
  }
}

// Every agent needs a description.
const described = (fields) => ({ description: fields.name, ...fields });

await measure({
  add: new Add(),
  custom: (name, emits) => new Custom(name, emits),
  model: (answers) => new Model(answers),
  llm: (fields) => new LlmAgent(described(fields)),
  loop: (fields) => new LoopAgent(described(fields)),
  sequential: (fields) => new SequentialAgent(described(fields)),
  parallel: (fields) => new ParallelAgent(described(fields)),
  runner: (agent) => new InMemoryRunner(agent, { appName: 'app' }),
  create: (runner, sessionId) => runner.sessionService.createSession('app', 'user', {}, sessionId),
  // A run without a limit of calls writes a warning.
  run: (runner, sessionId, newMessage, streams) => runner.runAsync({
    userId: 'user', sessionId, newMessage,
    runConfig: new RunConfig({ maxLlmCalls: 1e9, streamingMode: streams ? StreamingMode.SSE : StreamingMode.NONE }),
  }),
});
