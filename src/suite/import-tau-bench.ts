import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../domain/json.ts';
import { dataProblems, RetailDataError } from '../environments/retail/data.ts';
import { type SolutionTrace, traceSolutions } from '../environments/retail/solutions.ts';
import { customerOf } from '../environments/retail/customer.ts';
import { readTasks, SPLITS, type Split, type Task, writesOf } from '../environments/retail/tasks.ts';
import { pathFrom, titleOf, type WrittenFiles, writeImported } from './imported-files.ts';

export interface ImportTauBenchRequest {
  /** Folder with the data of the retail shop and its tasks. Read where it lies; the suite names it by path. */
  readonly data: string;
  /** Folder of the suite; made when it does not exist. */
  readonly out: string;
  /** Which tasks become cases. Default: `test`. */
  readonly split?: Split;
  /**
   * Who the customer is: told at once (`request`, the default), a script that says who they are and what they want when they are asked, or a model with the instruction as
   * its brief.
   */
  readonly user?: CustomerKind;
  /** File of the route to the model that speaks as the customer, for `user: model`; else it is the suite's to name one (`user_model`). */
  readonly route?: string;
  /** Replace files that were edited since they were imported. Default: false. */
  readonly force?: boolean;
}

/** How the customers of imported tasks speak. */
export type CustomerKind = 'request' | 'script' | 'model';

export interface ImportTauBenchResult extends WrittenFiles {
  /** Absolute path of `suite.yaml`. */
  readonly suite: string;
  /** Cases of the split. */
  readonly cases: number;
}

/**
 * Makes a suite of the retail tasks of tau-bench: `suite.yaml` and `cases/<split>-<number>.yaml`.
 *
 * A case is passed by the end state that the published calls reach, when the user was told each of the texts that the task asks for. These are looked for at the
 * boundaries of words and numbers (`10` is not in `$110`, where the original finds it) in whatever the agent tells the user. A write that is made again, with equal
 * arguments, after it was committed fails the case, also where the shop refuses it; the original does not see it.
 *
 * The request is the script that the original gives to a simulated customer, as it stands: the agent is told at once what the customer wants and how they would behave.
 * With `user: script` the customer is one who answers: the sentences of the original in the first person, those about who they are apart. A script follows no plan, so
 * what the original's customer would do under a condition is told with the rest.
 *
 * May be repeated, with the same split or the other: files of earlier imports are brought up to date, edited ones are left alone and reported, cases of the other
 * split stay.
 *
 * @throws {RetailDataError} for missing or malformed files; nothing is written then.
 */
export async function importTauBench(request: ImportTauBenchRequest): Promise<ImportTauBenchResult> {
  const data = resolve(request.data);
  const out = resolve(request.out);
  const split = request.split ?? 'test';
  const problems = dataProblems(data);
  if (problems.length > 0) throw new RetailDataError(problems);
  const tasks = readTasks(data, split);
  const traces = await traceSolutions(data, tasks);

  const files = new Map<string, string>();
  for (const [task, trace] of traces) files.set(join(out, 'cases', `${split}-${task.number}.yaml`), caseText(task, trace, request.user ?? 'request'));
  const suite = join(out, 'suite.yaml');
  files.set(suite, suiteText(out, data, withEarlier(out, split), request.route));
  return { suite, cases: tasks.length, ...(await writeImported(files, { source: 'tau-bench', force: request.force ?? false })) };
}

/** The split asked for and those of cases that an earlier import left in the folder. */
function withEarlier(out: string, split: Split): readonly Split[] {
  const folder = join(out, 'cases');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return SPLITS.filter((name) => name === split || files.some((file) => file.startsWith(`${name}-`) && file.endsWith('.yaml')));
}

function suiteText(out: string, data: string, splits: readonly Split[], route: string | undefined): string {
  return stringify({
    name: 'tau-bench-retail',
    title: `tau-bench retail: ${splits.join(', ')}`,
    environment: { use: 'retail', with: { data: pathFrom(out, data) } },
    clock: '2024-05-15T15:00:00-04:00',
    timezone: 'America/New_York',
    ...(route === undefined ? {} : { user_model: pathFrom(out, resolve(route)) }),
    user: { role: 'agent' },
    defaults: { trials: 1, agents: ['reference'] },
  });
}

function caseText(task: Task, trace: SolutionTrace, user: CustomerKind): string {
  const talk = user === 'request' ? [] : TALK;
  const mutants = writesOf(task).length > 0 ? passingMutants(trace, talk.length) : [];
  const kase: JsonObject = {
    title: titleOf(task.instruction),
    kind: kindOf(task),
    tags: [task.split, task.outputs.length > 0 ? 'answer' : 'no-answer'],
    request: user === 'request' ? task.instruction : GREETING,
    ...(user === 'request' ? {} : { conversation: user === 'script' ? scriptOf(task) : briefOf(task) }),
    user: { name: task.userId },
    expect: {
      outcomes: [{ name: 'gold', same_as: 'reference' }],
      ...(task.outputs.length > 0 ? { claims: task.outputs.map((output) => ({ claim: 'text', name: `says ${output}`, rule: { says: [output] } })) } : {}),
      repeated_writes: 'forbid_attempts',
    },
    ...(trace.unchanged && task.outputs.length === 0 ? { expects_nothing: true } : {}),
    reference: { steps: [...talk, ...task.gold.map(({ tool, args }) => ({ call: tool, with: args }))], answer: answerOf(task) },
    ...(mutants.length > 0 ? { mutants } : {}),
  };
  return stringify(kase, { lineWidth: 0 });
}

/** Mutants of a case with writes that may pass, by what its solution was seen to do. One that changes what must not change fails, explained or not. */
function passingMutants({ refused, traceless }: SolutionTrace, before: number): readonly JsonObject[] {
  return [
    { mutant: 'add:*', why: 'The shop refuses a call for an id that does not exist; nothing changes, and a refusal alone is no failure.' },
    ...refused.flatMap((at) =>
      about(
        before + at,
        ['drop', 'repeat', 'alter'],
        'The shop refuses this call of the solution; nothing changes without it, by a second one, or by another that it refuses.',
      ),
    ),
    ...traceless.flatMap((at) =>
      about(
        before + at,
        ['drop', 'alter'],
        'The solution ends just the same without this call: a later one overwrites what it writes, or it was there already.',
      ),
    ),
  ];
}

const GREETING = 'Hello, I need some help, please.';

/** What the solution says to a customer who is asked, before it does anything. */
const TALK: readonly JsonObject[] = [{ say: 'Could you tell me your name and zip code, or your email address?' }, { say: 'Thank you. What can I do for you?' }];

/** Words with which a clerk asks who somebody is, what they want, whether to go on, and whether that is all. */
const ASKED = {
  identity: ['name', 'zip', 'zip code', 'email', 'e-mail', 'user id', 'identity', 'who you are', 'verify', 'authenticate'],
  wish: [
    'help',
    'assist',
    'do for you',
    'like to do',
    'want to do',
    'looking for',
    'request',
    'details',
    'which order',
    'which item',
    'which items',
    'order number',
    'order id',
  ],
  confirmation: ['confirm', 'proceed', 'go ahead', 'yes/no', 'is that correct', 'is this correct', 'shall i'],
  end: ['anything else', 'something else', 'transferred', 'transferring'],
};

/** The instruction as it stands, to whoever plays the customer; who they are is told when it is asked for. */
function briefOf(task: Task): JsonObject {
  return { user: 'model', wants: task.instruction, if_asked: [customerOf(task).identity] };
}

function scriptOf(task: Task): JsonObject {
  const { identity, whole } = customerOf(task);
  return {
    user: 'script',
    rules: [
      { topic: ASKED.identity, say: identity },
      { topic: ASKED.wish, not_says: ASKED.end, say: [whole, `As I said: ${whole}`] },
      { topic: ASKED.confirmation, say: 'Yes, if it is what I asked for.' },
      { topic: ASKED.end, say: 'No, thank you.', end: true },
    ],
    otherwise: [whole, 'Please go on, as I said.'],
  };
}

/** Patterns of the mutants of a step. `at`: index in the solution; mutants count from 1. */
function about(at: number, kinds: readonly string[], why: string): readonly JsonObject[] {
  return kinds.map((kind) => ({ mutant: kind === 'alter' ? `alter:${at + 1}:*` : `${kind}:${at + 1}`, why }));
}

/** The one tool that changes something; `several`, or `no_write`. */
function kindOf(task: Task): string {
  const [first, second] = writesOf(task);
  return first === undefined ? 'no_write' : second === undefined ? first : 'several';
}

/** Says each text on a line of its own: nothing that stands beside it can make another number of it. */
function answerOf(task: Task): string {
  return ['That is done.', ...task.outputs.map((output) => output.replaceAll('${', '$${'))].join('\n');
}
