// The scenarios of the table on @google/adk: `node google_adk.mjs SCENARIO WIDTH SIZE` prints nanoseconds per unit.
import {
  BaseAgent, BaseLlm, FunctionTool, InMemoryRunner, LlmAgent, LoopAgent, LogLevel, ParallelAgent, SequentialAgent,
  StreamingMode, createEvent, createEventActions, setLogLevel,
} from '@google/adk';

const TURNS = 20;
const content = (role, ...parts) => ({ role, parts });
const text = (words) => ({ text: words });

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

// Calls so many tools in every second answer. Without tools it always answers.
class Scripted extends BaseLlm {
  constructor(tools = 0) {
    super({ model: 'scripted' });
    this.tools = tools;
    this.calls = 0;
  }
  async *generateContentAsync() {
    this.calls += 1;
    const call = () => ({ functionCall: { name: 'add', args: { a: 1, b: 2 } } });
    const parts = this.tools > 0 && this.calls % 2 === 1
      ? Array.from({ length: this.tools }, call)
      : [text('a short draft of the document')];
    yield { content: content('model', ...parts) };
  }
}

class Chunks extends BaseLlm {
  constructor(count) {
    super({ model: 'chunks' });
    this.count = count;
  }
  async *generateContentAsync() {
    for (let i = 0; i < this.count; i++) yield { content: content('model', text('word ')), partial: true };
    yield { content: content('model', text('word '.repeat(this.count))) };
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

const pair = (emits) => [new Custom('a', emits), new Custom('b', emits)];

const llm = (name, instruction, outputKey, includeContents, model = new Scripted(), tools = []) => new LlmAgent({
  name, model, instruction, outputKey, includeContents, tools,
  disallowTransferToParent: true,
  disallowTransferToPeers: true,
});

const writerAndCritic = (contents) => [
  llm('writer', 'Refine the draft: {criticism?}', 'draft', contents),
  llm('critic', 'Criticise the draft: {draft?}', 'criticism', contents),
];

const newRunner = (agent) => new InMemoryRunner({ agent, appName: 'app' });

const create = (runner, sessionId) =>
  runner.sessionService.createSession({ appName: 'app', userId: 'user', sessionId });

// Nanoseconds of a run.
async function drive(runner, sessionId, streamingMode = StreamingMode.NONE) {
  const start = process.hrtime.bigint();
  const events = runner.runAsync({
    userId: 'user', sessionId, newMessage: content('user', text('go')),
    runConfig: { maxLlmCalls: 0, streamingMode },
  });
  for await (const event of events) if (event.errorMessage) throw new Error(event.errorMessage);
  return Number(process.hrtime.bigint() - start);
}

// Nanoseconds of a run in a session of its own.
async function alone(agent, streamingMode) {
  const runner = newRunner(agent);
  await create(runner, 'session');
  return drive(runner, 'session', streamingMode);
}

const looped = (subAgents, maxIterations) => alone(new LoopAgent({ name: 'loop', subAgents, maxIterations }));

async function repeated(times, run) {
  let sum = 0;
  for (let i = 0; i < times; i++) sum += await run(i);
  return sum;
}

const inBlocks = (levels) => Array.from({ length: levels }).reduce(
  (inner, _, i) => new SequentialAgent({ name: `level${i}`, subAgents: [inner] }),
  new Custom('a', 'text'),
);

// Each gives nanoseconds and the number of units.
const SCENARIOS = {
  text: async (_, size) => [await looped(pair('text'), size / 2), size],
  key: async (_, size) => [await looped(pair('key'), size / 2), size],
  silent: async (_, size) => [await looped(pair('nothing'), size / 2), size],
  blocks: async (width, size) => [await looped([inBlocks(width)], size), size],
  history: async (_, size) => [await looped(writerAndCritic('default'), size / 2), size],
  'no-history': async (_, size) => [await looped(writerAndCritic('none'), size / 2), size],
  tools: async (width, size) => {
    const worker = llm('worker', 'Add.', 'answer', 'none', new Scripted(width), [add]);
    return [await looped([worker, new Custom('b', 'text')], size), size];
  },
  parallel: async (width, size) => {
    const children = () => Array.from({ length: width }, (_, i) => new Custom(`w${i}`, 'text'));
    const run = () => alone(new ParallelAgent({ name: 'all', subAgents: children() }));
    return [await repeated(size, run), width * size];
  },
  session: async (_, size) => {
    const runner = newRunner(new SequentialAgent({ name: 'pair', subAgents: pair('text') }));
    await create(runner, 'session');
    await repeated(size, () => drive(runner, 'session'));
    return [await repeated(TURNS, () => drive(runner, 'session')), TURNS];
  },
  run: async (_, size) => {
    const runner = newRunner(new Custom('a', 'key'));
    const run = async (i) => {
      await create(runner, `s${i}`);
      return drive(runner, `s${i}`);
    };
    return [await repeated(size, run), size];
  },
  chunks: async (width, size) => {
    const run = () => alone(llm('worker', 'Answer.', 'answer', 'default', new Chunks(width)), StreamingMode.SSE);
    return [await repeated(size, run), width * size];
  },
};

setLogLevel?.(LogLevel.ERROR);
const [scenario, width, size] = process.argv.slice(2);
// The first run of a process loads modules.
await looped([...pair('text'), ...writerAndCritic('none')], 1);
const [nanos, units] = await SCENARIOS[scenario](Number(width), Number(size));
console.log(nanos / units, 0, 0, 0);
process.exit(0);
