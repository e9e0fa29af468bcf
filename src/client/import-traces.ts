import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Document } from 'yaml';
import { redactionRules } from '../cassettes/redaction-rules.ts';
import { Redactor } from '../cassettes/redactor.ts';
import { NotRecordableError } from '../cassettes/record-cassette.ts';
import { changeOf, secretsIn, writeCassette } from '../cassettes/write-cassette.ts';
import type { Cassette } from '../domain/cassette.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { printable } from '../domain/text/bounded.ts';
import type { TracedConversation } from '../drafts/conversation.ts';
import { draftedCassette, interactionsOf, TRACE_VARIANT } from '../drafts/draft-cassette.ts';
import { caseData, NotDraftableError, partsOf, questionsOf } from '../drafts/draft-case.ts';
import { readConversations } from '../drafts/read-conversations.ts';
import { loadEnvironment } from '../environments/load.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { makeFolder } from '../infra/make-folder.ts';
import { type CaseDefaults, draftedCase } from '../suite/case-file.ts';
import { cassetteFile, cassetteFolder } from '../suite/cassette-file.ts';
import { check, problemAt } from '../suite/issues.ts';
import { readSuiteFiles } from '../suite/load-suite.ts';
import { builtInSuites } from '../suite/places.ts';
import { plainArguments, plainScriptText } from '../suite/plain-arguments.ts';
import { type Suite, SuiteFileError } from '../suite/suite.ts';
import { suiteSchema } from '../suite/suite-schema.ts';
import { parseYaml, readYaml } from '../suite/yaml-file.ts';

/** Which traces become drafts of cases. */
export interface ImportTracesRequest {
  /** Files of OTLP JSON or of chat messages. */
  readonly files: readonly string[];
  /** Folder of a suite. */
  readonly suite: string;
  /** Names of tools in the traces, with those of the environment. Default: they have the same. */
  readonly tools?: { readonly [traced: string]: string };
  /** Nothing is written. Default false. */
  readonly dryRun?: boolean;
}

/** What became of one conversation. */
export interface DraftedCase {
  readonly case: string;
  readonly of: string;
  /** `kept`: there is such a case, and it is left as it is. */
  readonly state: 'drafted' | 'kept' | 'not_drafted';
  /** Why nothing was drafted; null: something was. */
  readonly why: string | null;
  readonly file: string;
  readonly cassette: string;
  readonly turns: number;
  readonly calls: number;
  readonly interactions: number;
  /** What each open question is about. */
  readonly questions: readonly string[];
  /** What of the trace is in neither file. */
  readonly left: readonly string[];
  /** Values that were replaced, by kind. */
  readonly hidden: { readonly [kind: string]: number };
}

export interface ImportTracesReport {
  readonly type: 'drafts';
  readonly suite: string;
  readonly dryRun: boolean;
  readonly drafts: readonly DraftedCase[];
}

const HEAD = ' A draft: "trialbed validate" tells what is left to answer. Once it is answered, this is a case like any other.';
const MAX_NAME = 90;

/**
 * Drafts cases and cassettes of what production traces tell: redacted, with what they do not tell as questions. A file that is there is left as it is. Needs no service.
 *
 * @throws {SuiteFileError} for traces, or a suite, that cannot be read; names file, line and column
 */
export async function importTraces(request: ImportTracesRequest): Promise<ImportTracesReport> {
  const { suite, environment, defaults } = await suiteOf(request.suite);
  const conversations = await readConversations(request.files);
  const drafts: DraftedCase[] = [];
  for (const conversation of named(conversations))
    drafts.push(await drafted(renamed(conversation, request.tools ?? {}), { suite, environment, defaults, dryRun: request.dryRun === true }));
  return { type: 'drafts', suite: suite.name, dryRun: request.dryRun === true, drafts };
}

interface Into {
  readonly suite: Suite;
  readonly environment: LoadedEnvironment;
  readonly defaults: CaseDefaults;
  readonly dryRun: boolean;
}

async function drafted(conversation: TracedConversation, into: Into): Promise<DraftedCase> {
  const { suite, dryRun } = into;
  const file = join(dirname(suite.file), 'cases', `${conversation.id}.yaml`);
  const cassetteAt = cassetteFile(cassetteFolder(suite), conversation.id, TRACE_VARIANT);
  const none = { turns: 0, calls: 0, interactions: 0, questions: [], left: conversation.left, hidden: {} };
  const of = { case: conversation.id, of: printable(conversation.of, 300), file, cassette: cassetteAt };
  try {
    const draft = await draftOf(conversation, file, into);
    const about = { ...of, of: draft.of, turns: draft.turns, calls: draft.calls, interactions: draft.cassette.interactions.length };
    const told = {
      ...about,
      questions: draft.questions,
      left: [...conversation.left, ...draft.left].map((line) => printable(line, 300)),
      hidden: draft.hidden,
    };
    if ((await textOf(file)) !== null) return { ...told, state: 'kept', why: 'there is such a case, and it is left as it is' };
    if ((await changeOf(cassetteAt, draft.cassette)).state === 'changed')
      return { ...told, state: 'kept', why: 'there is another cassette in its place, and it is left as it is' };
    if (!dryRun) await write(file, draft.text, cassetteAt, draft.cassette);
    return { ...told, state: 'drafted', why: null };
  } catch (error) {
    if (!(error instanceof NotDraftableError || error instanceof NotRecordableError || error instanceof SuiteFileError)) throw error;
    return { ...of, ...none, state: 'not_drafted', why: error.message };
  }
}

/** The files of one draft. @throws {NotDraftableError} @throws {SuiteFileError} */
async function draftOf(conversation: TracedConversation, file: string, { suite, environment, defaults }: Into) {
  const parts = partsOf(conversation);
  const { interactions, left } = interactionsOf(conversation, environment);
  const redactor = new Redactor({ rules: redactionRules(suite.cassettes ?? null), known: environment.policy ?? '' });
  const content = { parts, interactions, of: printable(conversation.of, 300) };
  redactor.collect(content as unknown as Json);
  const clean = redactor.json(content as unknown as Json) as unknown as typeof content;
  const steps = clean.parts.steps.map((step) => ('call' in step ? { ...step, with: plainArguments(step.with) } : { say: plainScriptText(step.say) }));
  const own = conversation.startedAt === null ? {} : { clock: conversation.startedAt.replace(/\.\d+Z$/, 'Z') };
  const questions = questionsOf(clean.parts, environment);
  const data = caseData({ ...clean.parts, steps, answer: plainScriptText(clean.parts.answer) }, clean.of, questions, own);
  const text = yamlOf(data);
  const secrets = secretsIn(text);
  if (secrets.length > 0) throw new NotDraftableError(`after redaction it still holds what looks like a ${secrets.join(' and a ')}; nothing was written`);
  const kase = await draftedCase(parseYaml(file, text), defaults);
  const cassette = draftedCassette(kase, environment, clean.of, clean.interactions);
  const calls = parts.steps.filter((step) => 'call' in step).length;
  return {
    text,
    cassette,
    of: clean.of,
    left,
    hidden: redactor.counts,
    turns: parts.turns.length,
    calls,
    questions: questions.map(({ about }) => String(about)),
  };
}

/** The cassette first: without its case it is nothing, and the same command goes on. */
async function write(file: string, text: string, cassetteAt: string, cassette: Cassette): Promise<void> {
  await writeCassette(cassetteAt, cassette);
  await makeFolder(dirname(file));
  await writeFile(file, text, { flag: 'wx' });
}

function yamlOf(data: JsonObject): string {
  const document = new Document(data, { aliasDuplicateObjects: false });
  document.commentBefore = HEAD;
  return document.toString({ lineWidth: 0 });
}

/** A suite whose cases may be drafts: only what is wrong with the rest of it counts. @throws {SuiteFileError} */
async function suiteOf(nameOrPath: string): Promise<Omit<Into, 'dryRun'>> {
  if ((await builtInSuites()).includes(nameOrPath)) {
    const message = 'this suite comes with trialbed, and nothing is written into it; name the folder of one of your own, as "trialbed init" makes it';
    throw new SuiteFileError([{ file: nameOrPath, line: null, column: null, message, suggestion: null }]);
  }
  const { suite, problems } = await readSuiteFiles(nameOrPath);
  const own = problems.filter(({ file }) => suite === null || file === suite.file);
  if (suite === null || own.length > 0) throw new SuiteFileError(own);
  const source = await readYaml(suite.file);
  const { user_model: _route, ...defaults } = check(suiteSchema, source);
  const missing = [
    ...(defaults.user?.name === undefined || defaults.user.role === undefined ? ['user: { name, role }, for whom the agent of the traces acted'] : []),
    ...(defaults.clock === undefined ? ['clock, for traces that do not tell when they were'] : []),
  ];
  if (missing.length > 0) throw new SuiteFileError(missing.map((what) => problemAt(source, [], `drafted cases need ${what}; write it here`)));
  return { suite, environment: await loadEnvironment(suite.environment), defaults };
}

/** Names that files can have, each once. */
function named(conversations: readonly TracedConversation[]): readonly TracedConversation[] {
  const used = new Set<string>();
  return conversations.map((conversation) => {
    const plain =
      basename(conversation.id)
        .replace(/[^A-Za-z0-9_.-]+/g, '-')
        .replace(/^[^A-Za-z0-9]+/, '')
        .slice(0, MAX_NAME) || 'drafted';
    let id = plain;
    for (let more = 2; used.has(id); more++) id = `${plain}-${more}`;
    used.add(id);
    return { ...conversation, id };
  });
}

function renamed(conversation: TracedConversation, tools: { readonly [traced: string]: string }): TracedConversation {
  const nameOf = (tool: string) => (Object.hasOwn(tools, tool) ? (tools[tool] ?? tool) : tool);
  return {
    ...conversation,
    messages: conversation.messages.map((message) =>
      message.role === 'user' ? message : { ...message, calls: message.calls.map((call) => ({ ...call, tool: nameOf(call.tool) })) },
    ),
  };
}

async function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  });
}
