import { setTimeout as pause } from 'node:timers/promises';
import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import { driftText } from '../../contract/drift.ts';
import { changesOf, findingsOf, MAX_NIGHT_FINDINGS, type NightFinding } from '../../domain/night.ts';
import { outageOf } from '../../domain/outage.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { NightBody } from '../../store/nights.ts';
import type { Root } from '../../worker/root.ts';
import { queueOf } from '../../workflows/messages.ts';
import type { NightActivities, NightPlan, NightRef } from '../../workflows/night-messages.ts';
import type { Trialbed } from '../api.ts';
import { prepareBatch } from '../run.ts';
import { startWorkflow } from '../start-workflow.ts';
import { cleanUp } from './clean-up.ts';
import { faultsOf, versionsOf } from './observe.ts';
import { type Teller, toTell } from './tell.ts';
import { writeNight } from './write-night.ts';

/** How long one look at a batch takes at most, and how often it asks. */
const LOOK_MS = 15 * 60_000;
const POLL_MS = 1_000;

export interface NightServices {
  readonly root: Root;
  readonly bed: Pick<Trialbed, 'contract' | 'facts'>;
  readonly tell: Teller;
}

/** The steps of nights over one worker's services. */
export function nightActivities({ root, bed, tell }: NightServices): NightActivities {
  const { store, temporal, config } = root;
  const { nights } = store;
  const activities: NightActivities = {
    async beginNight({ night, schedule, workflow, due, plan }) {
      const row = await nights.begin({ id: night, schedule, due: new Date(due), workflow });
      if (row.state !== 'running') return { kind: 'over' };
      if (row.batch !== null) return { kind: 'begun', batch: row.batch };
      const cleaned = await beating(() => cleanUp(root, night));
      const { batch: prepared } = await beating(() => prepareBatch(root, { ...requestOf(plan), seed: night }));
      const held = await nights.lock(accountsOf(prepared), { night, workflow });
      if (held) {
        await store.setBatchState(prepared.id, 'interrupted');
        return { kind: 'locked', by: held.night };
      }
      // Once: what a repeated step finds is clean already.
      await nights.set(night, { batch: prepared.id, body: { ...(row.body.cleaned ? {} : { cleaned }) } });
      await store.reopenBatch(prepared.id, { options: prepared.options, maxCost: prepared.maxCost });
      await startWorkflow({ temporal, batch: prepared, taskQueue: queueOf(config.taskQueue, prepared) });
      return { kind: 'begun', batch: prepared.id };
    },
    async watchNight({ batch }) {
      for (const end = Date.now() + LOOK_MS; Date.now() < end; await pause(POLL_MS)) {
        heartbeat();
        const state = (await store.batch(batch))?.state;
        if (state === 'finished' || state === 'cancelled' || state === undefined) return true;
      }
      return false;
    },
    async endNight(ref) {
      const { night, batch, problem } = ref;
      const row = await nights.read(night);
      if (row && row.state !== 'running') return { night, state: row.state === 'held' ? 'held' : 'broken', why: row.why };
      const body = batch === null ? {} : await beating(() => shown(ref, batch));
      const findings = body.findings ?? [];
      const why = problem ?? (findings.length === 0 ? null : brief(findings, body.moreFindings ?? 0));
      const state = why === null ? 'held' : 'broken';
      await nights.begin({ id: night, schedule: ref.schedule, due: new Date(ref.due), workflow: ref.workflow });
      await nights.set(night, { state, ended: new Date(), body, ...(why !== null && { why: printable(why) }) });
      await nights.unlock(night);
      const report = await writeNight(store, config.home, night).catch(() => null);
      if (report !== null) await nights.set(night, { body: { report } });
      return { night, state, why };
    },
    async tellNight({ night, plan }) {
      const row = await nights.read(night);
      const news = row && toTell(row);
      if (!row || !news || row.body.told) return;
      await nights.set(night, { body: { told: await tell(plan, row, news) } });
    },
  };

  /** What a batch has shown, however far it came. */
  async function shown({ schedule, night, plan }: NightRef, batch: string): Promise<NightBody> {
    const facts: TrialFacts[] = [];
    for await (const page of bed.facts(batch)) facts.push(...page);
    const leased = await root.worlds.leased(`${batch}-`);
    const left: NightFinding[] = leased === 0 ? [] : [{ invariant: 'left_nothing', detail: `${leased} worlds are still leased`, trial: null }];
    const found = [...findingsOf(facts), ...left, ...(plan.contract ? await drift(plan) : [])];
    const versions = await versionsOf(root, batch, facts);
    const before = (await store.nights.of(schedule, 100)).find((one) => one.id !== night && one.body.versions !== undefined);
    return {
      trials: { planned: facts.length, ended: facts.filter(({ ending }) => ending !== null).length },
      versions,
      changes: changesOf(before?.body.versions ?? null, versions),
      faults: await faultsOf(root, batch, facts),
      findings: found.slice(0, MAX_NIGHT_FINDINGS).map((finding) => ({ ...finding, detail: printable(finding.detail) })),
      ...(found.length > MAX_NIGHT_FINDINGS && { moreFindings: found.length - MAX_NIGHT_FINDINGS }),
    };
  }

  async function drift({ suite, cases }: NightPlan): Promise<readonly NightFinding[]> {
    const { drift: found, notPlayed } = await bed.contract({ suite, ...(cases && { cases }) });
    const finding = (detail: string): NightFinding => ({ invariant: 'contract', detail, trial: null });
    return [
      ...found.map((one) => finding(`${one.tool}: ${driftText(one)}`)),
      ...notPlayed.map(({ cassette, why }) => finding(`${cassette} could not be played: ${why}`)),
    ];
  }

  return guarded(activities);
}

function requestOf({ webhook: _, mail: __, contract: ___, ...request }: NightPlan) {
  return request;
}

/** What a night must have for itself: its suite, and its environment with all that it has at real services. */
function accountsOf({
  suite,
  suiteFile,
  environment,
}: {
  readonly suite: string;
  readonly suiteFile: string;
  readonly environment: { readonly name: string };
}): readonly string[] {
  return [`suite ${suite} ${suiteFile}`, `environment ${environment.name}`];
}

function brief(findings: readonly NightFinding[], more: number): string {
  const [first] = findings;
  const others = findings.length + more - 1;
  return `${first?.detail ?? ''}${others > 0 ? `, and ${others} more` : ''}`;
}

/** The server hears of a step that takes long; the step itself is not interrupted. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), 5_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** What passes by itself is tried again; anything else would fail again. */
function guarded(activities: NightActivities): NightActivities {
  const guard =
    <A, R>(work: (argument: A) => Promise<R>) =>
    async (argument: A): Promise<R> => {
      try {
        return await work(argument);
      } catch (error) {
        if (outageOf(error) !== null) throw error;
        throw ApplicationFailure.nonRetryable(
          printable(error instanceof Error ? error.message : String(error), 2_000),
          error instanceof Error ? error.name : 'Error',
        );
      }
    };
  return {
    beginNight: guard(activities.beginNight),
    watchNight: guard(activities.watchNight),
    endNight: guard(activities.endNight),
    tellNight: activities.tellNight,
  };
}
