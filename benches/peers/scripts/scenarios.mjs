// The scenarios of the table for JavaScript packages: `node SCRIPT SCENARIO WIDTH SIZE` prints
// nanoseconds per unit.

const TURNS = 20;
export const content = (role, ...parts) => ({ role, parts });
export const text = (words) => ({ text: words });

// The reply of a model: every second reply calls `tools` tools. Without tools, each reply is text.
const scripted = (tools = 0) => {
  let calls = 0;
  const call = () => ({ functionCall: { name: 'add', args: { a: 1, b: 2 } } });
  return async function* () {
    calls += 1;
    const parts = tools > 0 && calls % 2 === 1
      ? Array.from({ length: tools }, call)
      : [text('a short draft of the document')];
    yield { content: content('model', ...parts) };
  };
};

const streamed = (count) => async function* () {
  for (let i = 0; i < count; i++) yield { content: content('model', text('word ')), partial: true };
  yield { content: content('model', text('word '.repeat(count))) };
};

// `peer` makes agents, runners, sessions and runs with one package.
export async function measure(peer) {
  const pair = (emits) => [peer.custom('a', emits), peer.custom('b', emits)];
  const llm = (name, instruction, outputKey, includeContents, answers = scripted(), tools = []) => peer.llm({
    name, instruction, outputKey, includeContents, tools, model: peer.model(answers),
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
  });
  const writerAndCritic = (contents) => [
    llm('writer', 'Refine the draft: {criticism?}', 'draft', contents),
    llm('critic', 'Criticise the draft: {draft?}', 'criticism', contents),
  ];

  // Returns the nanoseconds of a run. The run must yield this number of parts, which shows that all
  // work is done.
  async function drive(runner, sessionId, parts, streams = false) {
    let found = 0;
    const start = process.hrtime.bigint();
    for await (const event of peer.run(runner, sessionId, content('user', text('go')), streams)) {
      if (event.errorMessage) throw new Error(event.errorMessage);
      found += event.content?.parts?.length ?? 0;
    }
    const nanos = Number(process.hrtime.bigint() - start);
    if (found !== parts) throw new Error(`${parts} parts of events expected, found ${found}`);
    return nanos;
  }

  // Returns the nanoseconds of a run in a new session.
  async function alone(agent, parts, streams) {
    const runner = peer.runner(agent);
    await peer.create(runner, 'session');
    return drive(runner, 'session', parts, streams);
  }

  const looped = (subAgents, maxIterations, parts) =>
    alone(peer.loop({ name: 'loop', subAgents, maxIterations }), maxIterations * parts);

  async function repeated(times, run) {
    let sum = 0;
    for (let i = 0; i < times; i++) sum += await run(i);
    return sum;
  }

  const inBlocks = (levels) => Array.from({ length: levels }).reduce(
    (inner, _, i) => peer.sequential({ name: `level${i}`, subAgents: [inner] }),
    peer.custom('a', 'text'),
  );

  // Each scenario returns nanoseconds and the number of units.
  const scenarios = {
    text: async (_, size) => [await looped(pair('text'), size / 2, 2), size],
    key: async (_, size) => [await looped(pair('key'), size / 2, 2), size],
    silent: async (_, size) => [await looped(pair('nothing'), size / 2, 0), size],
    blocks: async (width, size) => [await looped([inBlocks(width)], size, 1), size],
    history: async (_, size) => [await looped(writerAndCritic('default'), size / 2, 2), size],
    'no-history': async (_, size) => [await looped(writerAndCritic('none'), size / 2, 2), size],
    tools: async (width, size) => {
      const worker = llm('worker', 'Add.', 'answer', 'none', scripted(width), [peer.add]);
      return [await looped([worker, peer.custom('b', 'text')], size, 2 * width + 2), size];
    },
    parallel: async (width, size) => {
      const children = () => Array.from({ length: width }, (_, i) => peer.custom(`w${i}`, 'text'));
      const run = () => alone(peer.parallel({ name: 'all', subAgents: children() }), width);
      return [await repeated(size, run), width * size];
    },
    session: async (_, size) => {
      const runner = peer.runner(peer.sequential({ name: 'pair', subAgents: pair('text') }));
      await peer.create(runner, 'session');
      await repeated(size, () => drive(runner, 'session', 2));
      return [await repeated(TURNS, () => drive(runner, 'session', 2)), TURNS];
    },
    run: async (_, size) => {
      const runner = peer.runner(peer.custom('a', 'key'));
      const start = process.hrtime.bigint();
      for (let i = 0; i < size; i++) {
        await peer.create(runner, `s${i}`);
        await drive(runner, `s${i}`, 1);
      }
      return [Number(process.hrtime.bigint() - start), size];
    },
    chunks: async (width, size) => {
      const run = () => alone(llm('worker', 'Answer.', 'answer', 'default', streamed(width)), width + 1, true);
      return [await repeated(size, run), width * size];
    },
  };

  const [scenario, width, size] = process.argv.slice(2);
  // The first run of a process also loads modules.
  await looped([...pair('text'), ...writerAndCritic('none')], 1, 4);
  const [nanos, units] = await scenarios[scenario](Number(width), Number(size));
  console.log(nanos / units, 0, 0, 0);
  process.exit(0);
}
