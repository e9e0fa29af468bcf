import type { AgentSpec } from '../../domain/agent.ts';
import { permittedTools } from '../../activities/check-call.ts';
import type { ModelsToRecord } from '../../cassettes/record-models.ts';
import { offeredBy } from '../../environments/runtime-tools.ts';
import type { LoadedEnvironment } from '../../environments/world.ts';
import type { TrialRow } from '../../store/store.ts';
import type { LoadedAgent, LoadedCase, Suite } from '../../suite/suite.ts';
import type { Root } from '../../worker/root.ts';
import { CassetteError } from './errors.ts';

/** Whether everything is known that replies of models depend on. @throws {CassetteError} */
export function requireRecordableModels({ defaults }: Pick<Suite, 'defaults'>, cases: readonly LoadedCase[], agents: readonly LoadedAgent[]): void {
  const other = agents.find(({ spec }) => spec.kind !== 'model');
  if (other)
    throw new CassetteError(
      `agent ${other.spec.name} is of kind ${other.spec.kind}, and replies are recorded of agents of kind model; leave --models out, or name another --agent`,
    );
  const asks = cases.find(({ kase }) => kase.conversation?.user === 'model');
  if (asks)
    throw new CassetteError(`the user of ${asks.kase.id} is a model, whose replies are not recorded; give the case a scripted user, or leave --models out`);
  if (defaults.addresses === 'mask')
    throw new CassetteError(
      'the suite hides mail addresses in records of conversations (defaults.addresses: mask), so that what a model was told is not known; leave --models out',
    );
}

/** What an agent's model was asked and replied. Null: it is no model. */
export async function modelsOf(
  { store }: Pick<Root, 'store'>,
  row: Pick<TrialRow, 'id' | 'summary'>,
  { spec, kase, environment }: { readonly spec: AgentSpec; readonly kase: LoadedCase; readonly environment: LoadedEnvironment },
): Promise<ModelsToRecord | null> {
  if (spec.kind !== 'model' || !row.summary) return null;
  const { attempt } = row.summary;
  const [conversation, calls] = await Promise.all([store.conversation(row.id, attempt), store.modelCalls(row.id, attempt)]);
  const own = conversation.filter(({ who }) => who === 'agent').toSorted((a, b) => a.seq - b.seq);
  const tools = permittedTools(offeredBy(environment, kase.kase), kase.kase.permission);
  return { route: spec.route, prompt: spec.prompt, tools, conversation: own, calls: calls.filter(({ who }) => who === 'agent') };
}
