// The adapter of the scenarios to @google/adk.
import {
  BaseAgent, BaseLlm, FunctionTool, InMemoryRunner, LlmAgent, LoopAgent, LogLevel, ParallelAgent, SequentialAgent,
  StreamingMode, createEvent, createEventActions, setLogLevel,
} from '@google/adk';
import { content, measure, text } from './scenarios.mjs';

class Custom extends BaseAgent {
  constructor(name, emits) {
    super({ name });
    this.emits = emits;
  }
  async *runAsyncImpl(context) {
    if (this.emits === 'nothing') return;
    yield createEvent({
      invocationId: context.invocationId,
      author: this.name,
      branch: context.branch,
      content: content('model', text('hello world 1234')),
      actions: createEventActions(this.emits === 'key' ? { stateDelta: { counter: 1 } } : {}),
    });
  }
  async *runLiveImpl() {}
}

class Model extends BaseLlm {
  constructor(answers) {
    super({ model: 'scripted' });
    this.generateContentAsync = answers;
  }
}

const add = new FunctionTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'OBJECT',
    properties: { a: { type: 'INTEGER' }, b: { type: 'INTEGER' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => a + b,
});

setLogLevel(LogLevel.ERROR);
await measure({
  add,
  custom: (name, emits) => new Custom(name, emits),
  model: (answers) => new Model(answers),
  llm: (fields) => new LlmAgent(fields),
  loop: (fields) => new LoopAgent(fields),
  sequential: (fields) => new SequentialAgent(fields),
  parallel: (fields) => new ParallelAgent(fields),
  runner: (agent) => new InMemoryRunner({ agent, appName: 'app' }),
  create: (runner, sessionId) => runner.sessionService.createSession({ appName: 'app', userId: 'user', sessionId }),
  run: (runner, sessionId, newMessage, streams) => runner.runAsync({
    userId: 'user', sessionId, newMessage,
    runConfig: { maxLlmCalls: 0, streamingMode: streams ? StreamingMode.SSE : StreamingMode.NONE },
  }),
});
