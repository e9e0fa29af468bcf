import { thisUser } from '../audited.ts';
import { NotFoundError } from '../api.ts';
import type { LabelAgreement } from '../../judges/rater-agreement.ts';
import type { BatchRow, Store } from '../../store/store.ts';
import { agreementBy, agreementsOf } from './agreement.ts';
import { exportDisagreements, type WrittenDisagreements } from './export-disagreements.ts';
import { type ImportedLabels, importLabels } from './import-labels.ts';
import { type Labelling, type LabelRequest, openLabelling } from './labelling.ts';
import { raterNameOf, requireRaterName } from './rater-name.ts';
import { rubricOf } from './rubric-of.ts';

/** Whose agreement is asked for. */
export interface AgreementRequest {
  /** At least one. The rubric is that of the first one's suite; labels and scores by any other text of it are left out, and counted. */
  readonly batches: readonly string[];
  readonly rubric: string;
}

/** Agreement, and how many labels of these batches are by other texts of a rubric of this name. */
export interface AskedAgreement extends LabelAgreement {
  readonly otherTexts: readonly { readonly version: string; readonly digest: string; readonly labels: number }[];
}

/** What people say of trials by rubrics, and how they agree with judges and with each other. */
export interface Labels {
  /** What one person has to label of a batch. @throws {NotFoundError} @throws {LabelRefusedError} for a name that is none */
  open(request: LabelRequest): Promise<Labelling>;
  /** Stores the labels of a file with one JSON object a line, all of them or none. @throws {SuiteFileError} with line and column of all that cannot be taken */
  import(request: LabelRequest & { readonly file: string }): Promise<ImportedLabels>;
  /** @throws {NotFoundError} */
  agreement(request: AgreementRequest): Promise<AskedAgreement>;
  /** By each text of a rubric by which trials of a batch were labelled or scored. */
  agreementsOf(batch: string): Promise<readonly LabelAgreement[]>;
  /** Writes the disagreements among these as examples: into `FILE.jsonl`, `FILE.md`, or both into a folder. Secrets and addresses are hidden. @throws {NotFoundError} */
  exportDisagreements(request: AgreementRequest & { readonly out: string }): Promise<WrittenDisagreements>;
}

export function labelsOver(store: Store, now: () => Date): Labels {
  const batchNamed = async (id: string): Promise<BatchRow> => {
    const batch = await store.batch(id);
    if (!batch) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
    return batch;
  };
  const opener = async ({ batch: id, rubric }: Pick<LabelRequest, 'batch' | 'rubric'>) => {
    const batch = await batchNamed(id);
    const stored = await rubricOf(store, batch, rubric);
    return (rater: string) => openLabelling(store, { batch: id, stored, rater }, now);
  };
  const raterOf = ({ rater }: LabelRequest) => (rater === undefined ? raterNameOf(thisUser()) : requireRaterName(rater));
  const asked = async ({ batches, rubric }: AgreementRequest) => {
    const rows = await Promise.all(batches.map(batchNamed));
    const [first] = rows;
    if (!first) throw new NotFoundError('no batch is named');
    const stored = await rubricOf(store, first, rubric);
    return { stored, agreement: await agreementBy(store, batches, stored) };
  };
  return {
    open: async (request) => (await opener(request))(raterOf(request)),
    import: async (request) => importLabels(request.file, raterOf(request), await opener(request)),
    async agreement(request) {
      const { agreement } = await asked(request);
      return { ...agreement, otherTexts: await otherTexts(store, agreement) };
    },
    agreementsOf: (batch) => agreementsOf(store, batch),
    async exportDisagreements(request) {
      const { stored, agreement } = await asked(request);
      return exportDisagreements(store, agreement, stored, request.out);
    },
  };
}

async function otherTexts({ judging }: Pick<Store, 'judging'>, { batches, rubric, digest }: LabelAgreement): Promise<AskedAgreement['otherTexts']> {
  const found = new Map<string, { version: string; digest: string; labels: number }>();
  for (const batch of batches) {
    for (const other of await judging.labelledBy(batch)) {
      const stored = other === digest ? null : await judging.rubric(other);
      if (stored?.rubric.name !== rubric) continue;
      const { length } = await judging.labels(other, batch);
      const before = found.get(other)?.labels ?? 0;
      found.set(other, { version: stored.rubric.version, digest: other, labels: before + length });
    }
  }
  return [...found.values()];
}
