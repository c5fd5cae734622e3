export type Name = keyof Workflows & string;
export type Input<W extends Name> = Workflows[W]["input"];
export type Output<W extends Name> = Workflows[W]["output"];
export type Questions<W extends Name> = Workflows[W]["questions"];

/** A function for each question that a workflow may ask. A missing function is a compile error. */
export type Answers<W extends Name> = {
  [Q in keyof Questions<W>]: (wait: Wait) => Promise<Questions<W>[Q]>;
};

/** A run of a workflow; `output` is set when the run has finished. */
export type RunOf<W extends Name> = Omit<Run, "output"> & { output?: Output<W> };

/** The error of a refused request or of a failed run. */
export class AdkError extends Error {
  constructor(readonly status: number, readonly fault: Fault, readonly run?: Run) {
    super(fault.help ? `${fault.message}; help: ${fault.help}` : fault.message);
    this.name = "AdkError";
  }
}

export interface Options {
  user?: string;
  session?: string;
  /** Requests with the same key start only one run. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** The end of a stream, and functions for the pauses of its run. */
export interface Pauses {
  /** `pause` ends the stream when the run waits; by default the stream stays open until the run ends. */
  until?: "end" | "pause";
  /** Gets the run with its open waits. */
  paused?: (run: Run) => void;
  answered?: (answer: WaitAnswer) => void;
}

/** A client of one server. Each request uses `init`, for example its headers. */
export class Client {
  constructor(private readonly base: string, private readonly init: RequestInit = {}) {}

  /** Starts a run and returns when the run has finished or waits for an answer. */
  async run<W extends Name>(name: W, input: Input<W>, options: Options = {}): Promise<RunOf<W>> {
    return this.begin(name, input, options, {}) as Promise<RunOf<W>>;
  }

  /** Starts a run and returns at once. */
  async start<W extends Name>(name: W, input: Input<W>, options: Options = {}): Promise<RunOf<W>> {
    return this.begin(name, input, options, { prefer: "respond-async" }) as Promise<RunOf<W>>;
  }

  /** Runs a workflow to its end. `answers` answers its questions. */
  async complete<W extends Name>(
    name: W,
    input: Input<W>,
    answers: Answers<W>,
    options: Options = {},
  ): Promise<Output<W>> {
    let run: Run = await this.begin(name, input, options, {});
    while (run.status !== "finished") {
      if (run.status === "failed" || run.status === "cancelled") {
        throw new AdkError(502, run.error ?? { kind: run.status, message: `the run was ${run.status}` }, run);
      }
      for (const wait of run.waiting ?? []) {
        // The path of a wait contains loop rounds and element numbers; the name of a question does not.
        const question = wait.path.replace(/(#|@)\d+|\[\d+\]/g, "");
        const answer = (answers as Record<string, (wait: Wait) => Promise<unknown>>)[question];
        if (!answer) throw new AdkError(0, { kind: "config", message: `no function answers the question \`${question}\`` }, run);
        await this.answer(wait.id, await answer(wait), options.signal);
      }
      for await (const _ of this.events(run.run, undefined, options.signal, { until: "pause" }));
      run = await this.get(run.run, options.signal);
    }
    return run.output as Output<W>;
  }

  async get(run: string, signal?: AbortSignal): Promise<Run> {
    return this.json("GET", `v1/runs/${encodeURIComponent(run)}`, undefined, {}, signal);
  }

  async runs(filter: Record<string, string> = {}): Promise<{ runs: Run[]; next: string | null }> {
    return this.json("GET", `v1/runs?${new URLSearchParams(filter)}`);
  }

  async cancel(run: string): Promise<Run> {
    return this.json("DELETE", `v1/runs/${encodeURIComponent(run)}`);
  }

  async waiting(filter: Record<string, string> = {}): Promise<Wait[]> {
    return (await this.json<{ waiting: Wait[] }>("GET", `v1/waiting?${new URLSearchParams(filter)}`)).waiting;
  }

  async answer(wait: string, value: unknown, signal?: AbortSignal): Promise<Run> {
    const path = wait.split("/").map(encodeURIComponent).join("/");
    return this.json("POST", `v1/waiting/${path}`, value, {}, signal);
  }

  /** Yields the events of a run after the event `after`, until the run ends. Reconnects without loss. */
  async *events(run: string, after?: string, signal?: AbortSignal, pauses: Pauses = {}): AsyncGenerator<Event> {
    for (let failures = 0; ; ) {
      try {
        const headers: Record<string, string> = { accept: "text/event-stream" };
        if (after) headers["last-event-id"] = after;
        const response = await this.send("GET", `v1/runs/${encodeURIComponent(run)}/events?until=${pauses.until ?? "end"}`, undefined, headers, signal);
        let text = "";
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          failures = 0;
          text += part.value;
          for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
            const field = (name: string) =>
              text.slice(0, end).split("\n").filter((line) => line.startsWith(`${name}:`))
                .map((line) => line.slice(name.length + 1).trimStart()).join("\n");
            const [kind, id, data] = [field("event"), field("id"), field("data")];
            text = text.slice(end + 2);
            if (kind === "end") return;
            if (kind === "error") throw new AdkError(502, JSON.parse(data));
            if (!data) continue;
            if (kind === "paused") pauses.paused?.(JSON.parse(data));
            if (kind === "answered") pauses.answered?.(JSON.parse(data));
            if (kind) continue;
            after = id || after;
            yield JSON.parse(data);
          }
        }
      } catch (error) {
        if (error instanceof AdkError || signal?.aborted || ++failures > 5) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** failures));
    }
  }

  private begin(name: string, input: unknown, options: Options, headers: Record<string, string>): Promise<Run> {
    const query = new URLSearchParams();
    if (options.user) query.set("user", options.user);
    if (options.session) query.set("session", options.session);
    if (options.idempotencyKey) headers["idempotency-key"] = options.idempotencyKey;
    return this.json("POST", `v1/${encodeURIComponent(name)}/runs?${query}`, input, headers, options.signal);
  }

  private async json<T>(
    method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal,
  ): Promise<T> {
    return (await this.send(method, path, body, headers, signal)).json() as Promise<T>;
  }

  private async send(
    method: string, path: string, body: unknown, headers: Record<string, string>, signal?: AbortSignal,
  ): Promise<Response> {
    const all = new Headers(this.init.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    if (body !== undefined) all.set("content-type", "application/json");
    const url = `${this.base.replace(/\/$/, "")}/${path}`;
    const response = await fetch(url, {
      ...this.init, method, headers: all, signal, body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.ok) return response;
    const reply = await response.json().catch(() => ({})) as { error?: Fault; run?: string };
    const fault = reply.error ?? { kind: "failed", message: `the server answered ${response.status}` };
    throw new AdkError(response.status, fault, reply.run ? (reply as unknown as Run) : undefined);
  }
}
